/** Program of the child process of `tiny-run.ts`. argv[2] is the request as JSON; the last line of stdout is the report. */
import { getMessage } from "../../contract/errors.ts";
import { testLibrary } from "./open-language-model.ts";
import type { ChildReport, TinyRunRequest } from "./tiny-run.ts";

async function run({ source, device }: TinyRunRequest): Promise<ChildReport> {
  return { ok: true, sentence: `a tiny model gives the right logits; ${await testLibrary(source, device)}` };
}

const report = await run(JSON.parse(process.argv[2] ?? "") as TinyRunRequest).catch((error: unknown): ChildReport => ({
  ok: false,
  message: getMessage(error),
}));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
