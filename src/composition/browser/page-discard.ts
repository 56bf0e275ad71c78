/** Browser replacement of src/backends/native/page-discard.ts: a web page cannot call native code. */
import type { openPageDiscard as openInNode } from "../../backends/native/page-discard.ts";

export const openPageDiscard: typeof openInNode = undefined;
