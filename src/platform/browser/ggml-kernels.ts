/** A page calls no native code. */
import type { openGgmlKernels as openInNode } from "../node/ggml-kernels.ts";

export const openGgmlKernels: typeof openInNode = undefined;
