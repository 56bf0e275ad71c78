// Command-line options of a benchmark; one that is not known ends it with exit code 2.
import { parseArgs } from "node:util";

export function readOptions(options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    console.error(`${error.message}\nknown options: ${known.join(", ")}`);
    process.exit(2);
  }
}
