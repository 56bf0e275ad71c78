/** Files that ask our own engine for gigabytes or hours, in a process with a small heap: each is refused by a typed error, and the process lives. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { costlyToRun, hostileOnnx } from "../fixtures/hostile-onnx.ts";

const program = fileURLToPath(new URL("fixtures/load-hostile.ts", import.meta.url));
/** The limit of a trace, its scratch memory, and the program itself. */
const allowedBytes = 1.5 * 2 ** 30;

interface Line {
  readonly name: string;
  readonly outcome: string;
  readonly peakBytes: number;
}

it("are refused one after the other by one process, in bounded memory", () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--max-old-space-size=1024", "--import", "tsx", program], {
    encoding: "utf8",
    timeout: 600_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const outcomes = Object.fromEntries(lines.map(({ name, outcome }) => [name, outcome]));
  const refused = Object.keys(hostileOnnx).map((name) => [name, expect.stringMatching(/^(MODEL_UNSUPPORTED|OUT_OF_MEMORY)$/)]);
  const tooLarge = Object.keys(costlyToRun).map((name) => [name, "LIMIT_EXCEEDED"]);
  expect(outcomes).toEqual(Object.fromEntries([...refused, ...tooLarge]));
  expect(Math.max(...lines.map(({ peakBytes }) => peakBytes))).toBeLessThan(allowedBytes);
}, 620_000);
