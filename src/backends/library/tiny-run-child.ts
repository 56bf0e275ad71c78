/** Program of the child process in which a probe runs the tiny model; its answer is a sentence. A library of the user's can end the process that uses it. */
import type { Device } from "../../contract/backend.ts";
import { answerParent } from "../../platform/node/child-report.ts";
import { testLibrary } from "./open-language-model.ts";
import type { LibrarySource } from "./open-library.ts";

/** Request to the child process. */
export interface LibraryTinyRunRequest {
  readonly source: LibrarySource;
  readonly device: Device;
}

await answerParent(async (request): Promise<string> => {
  const { source, device } = request as LibraryTinyRunRequest;
  return `a tiny model gives the right logits; ${await testLibrary(source, device)}`;
});
