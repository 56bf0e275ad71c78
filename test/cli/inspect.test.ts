/**
 * Acceptance of `inferyard inspect`: it answers on every file it is given, whole or broken.
 *
 * @isolated since it sees which native libraries its process has loaded
 */
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatInspection } from "../../src/cli/inspection/index.ts";
import { InferyardError } from "../../src/contract/errors.ts";
import { inspectModel } from "../../src/inspection/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, runsAll } from "../fixtures/slow.ts";

const [skip, name] = needsData("every model file of ../shared/data");

describe.skipIf(skip)(name, () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-inspect-"))));
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  const files = skip
    ? []
    : readdirSync(sharedData, { recursive: true, encoding: "utf8" })
        .filter((file) => [".onnx", ".gguf", ".safetensors"].includes(extname(file)))
        .map((file) => join(sharedData, file))
        .sort();

  /** All that the command prints, in words and as JSON. */
  async function inspect(path: string): Promise<string> {
    const inspection = await inspectModel(path);
    return `${formatInspection(inspection, true)}\n${JSON.stringify(inspection)}`;
  }

  it("is answered, conformance models included", async () => {
    expect(files.filter((file) => file.includes("onnx-conformance"))).toHaveLength(1289);
    expect(new Set(files.map((file) => extname(file)))).toEqual(new Set([".onnx", ".gguf", ".safetensors"]));
    // Conformance models are small and alike; every fourth of them but under TEST_SLOW=1.
    const inspected = files.filter((file, index) => runsAll || index % 4 === 0 || !file.includes("onnx-conformance"));
    for (const file of inspected) expect(await inspect(file)).toContain(file);
  });

  it("loads no engine for it", async () => {
    await inspect(join(sharedData, "all-MiniLM-L6-v2/onnx/model.onnx"));
    const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
    expect(sharedObjects.filter((object) => /onnxruntime|llama|\.node$/.test(object) && !/rolldown|oxc/.test(object))).toEqual(
      [],
    );
  });

  const rounds = amount(500, 200);
  it(`ends, ${rounds} times mutated, in an answer or a typed error and without eating memory`, async () => {
    const random = generator(20_261_121);
    const small = files.filter((file) => statSync(file).size < 800_000);
    const kinds = [".onnx", ".gguf", ".safetensors"].map((kind) => small.filter((file) => extname(file) === kind));
    const before = process.memoryUsage().rss;
    const outcomes = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      const candidates = kinds[round % kinds.length]!;
      const original = candidates[random(candidates.length)]!;
      const path = join(folder, `mutated${extname(original)}`);
      await writeFile(path, mutate(await readFile(original), random));
      const outcome = await inspect(path).then(
        () => "answer",
        (error: unknown) => (error instanceof InferyardError ? error.code : `${round} of ${original}: ${String(error)}`),
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect([...outcomes.keys()].filter((outcome) => !["answer", "MODEL_INVALID", "MODEL_UNSUPPORTED"].includes(outcome))).toEqual(
      [],
    );
    // Mutations that never hurt, or always, would prove little.
    expect(outcomes.get("answer")).toBeGreaterThan(rounds / 10);
    expect(outcomes.get("MODEL_INVALID")).toBeGreaterThan(rounds / 10);
    expect(process.memoryUsage().rss - before).toBeLessThan(500e6);
  });
});

type Random = (limit: number) => number;

/** Numbers below `limit`, the same ones in each run. */
function generator(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 5) % limit;
  };
}

/** One to three changes, half of them near the front, where headers are, and half of them of single bytes. */
function mutate(original: Buffer, random: Random): Buffer {
  let bytes = original;
  for (let left = random(3); left >= 0; left -= 1) {
    if (bytes.length < 2) return bytes;
    const at = random(random(2) === 0 ? bytes.length : Math.min(bytes.length, 2048));
    const change = random(2) === 0 ? 0 : random(changes.length);
    bytes = changes[change]!(Buffer.from(bytes), at, random);
  }
  return bytes;
}

type Change = (bytes: Buffer, at: number, random: Random) => Buffer;

const changes: readonly Change[] = [
  // One byte, or a few, replaced.
  (bytes, at, random) => bytes.fill(random(256), at, Math.min(bytes.length, at + 1)),
  (bytes, at, random) => bytes.fill(random(256), at, Math.min(bytes.length, at + 1 + random(16))),
  // A number that is huge, negative or zero, as wide as a count.
  (bytes, at, random) => bytes.fill([0xff, 0x7f, 0][random(3)]!, at, Math.min(bytes.length, at + [4, 8, 10][random(3)]!)),
  // Cut off; a piece taken out; a piece doubled; pieces exchanged.
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at, random) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(64))]),
  (bytes, at, random) => Buffer.concat([bytes.subarray(0, at + 1 + random(64)), bytes.subarray(at)]),
  (bytes, at, random) => Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)]).subarray(0, bytes.length - random(8)),
  // A digit of a JSON header made longer.
  (bytes, at) => {
    const digit = bytes.subarray(at).findIndex((byte) => byte >= 0x30 && byte <= 0x39);
    const place = digit < 0 ? at : at + digit;
    return Buffer.concat([bytes.subarray(0, place), Buffer.from("9999999999"), bytes.subarray(place)]);
  },
];
