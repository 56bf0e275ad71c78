/** A page calls no native code. */
import type { openGgmlKernels as openInNode } from "../../backends/native/ggml-kernels.ts";

export const openGgmlKernels: typeof openInNode = undefined;
