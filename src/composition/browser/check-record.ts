/** Takes the place of src/backends/native/check-record.ts in a page, which has no folder of its own on the machine: checks run in each page. */
import type { OpenCheckRecord, identifyCode as identifyInNode } from "../../backends/native/check-record.ts";

export const openCheckRecord: OpenCheckRecord | undefined = undefined;

/** Nothing is kept in a page, so that nothing needs to be identified. */
export const identifyCode: typeof identifyInNode = () => undefined;
