/** Program of the child process that measures one round. Its argument is the request; it prints the result or the error as JSON. */
import { wrapError } from "../contract/errors.ts";
import { measureRound, type RoundRequest } from "./measure-round.ts";
import type { RoundReport } from "./rounds.ts";

const request = JSON.parse(process.argv[2] ?? "{}") as RoundRequest;
const report = await measureRound(request).then(
  (round): RoundReport => ({ round }),
  (error: unknown): RoundReport => ({ error: wrapError(error, "RUN_FAILED", "measuring failed").toJSON() }),
);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
