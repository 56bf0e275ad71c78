/** Takes the place of src/backends/native/kept/restore-model.ts in a page, which keeps no plans. */
import type { openModelPlans as openInNode } from "../../backends/native/kept/restore-model.ts";

export const openModelPlans: typeof openInNode = undefined;
