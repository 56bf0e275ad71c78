/** Program of the child process that measures one round. */
import { wrapError } from "../contract/errors.ts";
import { answerParent } from "../platform/node/child-report.ts";
import { type Round, type RoundRequest, measureRound } from "./measure-round.ts";

await answerParent((request): Promise<Round> =>
  measureRound(request as RoundRequest).catch((error: unknown) => {
    throw wrapError(error, "RUN_FAILED", "measuring failed");
  }),
);
