/**
 * Holds every model that has goldens beside it against them, through the public runtime.
 *
 * npm run goldens -- --data ../shared/data [--target onnx:cpu]... [--weights model.safetensors] [--json]
 *
 * Every folder below DIR with a goldens.json is one model; what its goldens are is read from the goldens themselves. One line per model and
 * target, then the sum. With --weights each model is that file of its folder. Ends with 1 where something failed, and with 2 where it was asked wrongly.
 */
import { parseArgs } from "node:util";
import { type GoldenResult, runGoldens } from "./run.ts";

const usage = "npm run goldens -- --data DIR [--target TARGET]... [--weights FILE] [--json]";

// npm runs scripts in the package's folder, and INIT_CWD is where the user was: paths count from there.
const { INIT_CWD: directory } = process.env;
if (directory !== undefined) process.chdir(directory);
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        data: { type: "string" },
        target: { type: "string", multiple: true },
        weights: { type: "string" },
        json: { type: "boolean", default: false },
      },
    });
    if (values.data === undefined) throw new Error("--data is missing: the folder to look in");
    const targets = values.target === undefined ? undefined : [...new Set(values.target)];
    const show = (result: GoldenResult): void => {
      if (!values.json) process.stdout.write(`${line(result)}\n`);
    };
    const results = await runGoldens(values.data, targets, show, values.weights);
    const count = (verdict: GoldenResult["verdict"]): number => results.filter((result) => result.verdict === verdict).length;
    const [passed, failed, refused] = [count("passed"), count("failed"), count("refused")];
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ passed, failed, refused, results }, notFinite)}\n`
        : `goldens: ${passed} passed, ${failed} failed, ${refused} refused\n`,
    );
    return failed === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`goldens: ${error instanceof Error ? error.message : String(error)}\n  ${usage}\n`);
    return 2;
  }
}

function line({ model, target, verdict, reason, compared, largest }: GoldenResult): string {
  const counts = Object.entries(compared).map(([what, count]) => `${count} ${what}`);
  const worst =
    largest === null
      ? []
      : [`largest difference ${shortest(largest.difference)} of ${shortest(largest.tolerance)} (${largest.what})`];
  const details = verdict === "refused" ? [] : [counts.join(", "), ...worst].filter((part) => part !== "");
  const verdictWords = reason === undefined ? verdict : `${verdict}: ${reason}`;
  return [model, target, ...details, verdictWords].join("  ");
}

function shortest(value: number): string {
  return value.toExponential(1).replace(".0e", "e");
}

/** JSON has no word for a difference that is no number. */
function notFinite(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
