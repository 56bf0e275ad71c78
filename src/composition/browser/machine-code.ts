/** A page calls no native code. */
import type { openMachineCode as openInNode } from "../../backends/native/machine-code/machine-code.ts";

export const openMachineCode: typeof openInNode = undefined;
