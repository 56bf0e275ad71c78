/** A page calls no native code. */
import type { openPageDiscard as openInNode } from "../../backends/native/page-discard.ts";

export const openPageDiscard: typeof openInNode = undefined;
