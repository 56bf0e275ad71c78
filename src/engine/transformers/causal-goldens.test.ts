/** Decoders of which the shared data has no model, against logits of transformers: scripts/goldens/transformers/causal-goldens.py makes them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { worst } from "../../../test/fixtures/shared-data.ts";
import { Builder } from "../build/builder.ts";
import { isTensor } from "../build/traced-value.ts";
import { int64Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import { buildTransformer } from "./index.ts";

interface Goldens {
  readonly ids: readonly number[];
  readonly positions: readonly number[];
  readonly cases: readonly {
    readonly architecture: string;
    readonly config: Readonly<Record<string, number>>;
    readonly shapes: Readonly<Record<string, readonly number[]>>;
    readonly logits: readonly number[];
  }[];
}

const goldens = JSON.parse(readFileSync(new URL("causal-goldens.json", import.meta.url), "utf8")) as Goldens;

/** The weights that the formula in scripts/goldens/transformers/causal-goldens.py gives, by name. */
function weightsOf(shapes: Goldens["cases"][number]["shapes"]): Map<string, Float32Array> {
  let state = 1;
  const names = Object.keys(shapes).toSorted();
  return new Map(
    names.map((name) => {
      const count = shapes[name]!.reduce((product, size) => product * size, 1);
      const data = Float32Array.from({ length: count }, () => {
        state = (state * 16_807) % 2_147_483_647;
        return ((state % 129) - 64) / 128;
      });
      return [name, data];
    }),
  );
}

describe("decoders of transformers", () => {
  it.each(goldens.cases.map((each) => [each.architecture, JSON.stringify(Object.entries(each.config).slice(9)), each] as const))(
    "%s with %s",
    (_name, _settings, { architecture, config, shapes, logits }) => {
      const weights = weightsOf(shapes);
      const stored = new Map(Object.entries(shapes).map(([name, shape]) => [name, { type: "F32", shape }]));
      const { source, inputs, pending } = buildTransformer(architecture, config, stored);
      for (const { name, setReader } of pending) setReader(() => weights.get(name)!);
      const { ids, positions } = goldens;
      const builder = new Builder({}, "eager");
      const given = new Map(
        inputs.map(({ name, shape }) => {
          const empty = (): ReturnType<typeof toLiteral> =>
            toLiteral(
              "float32",
              shape.map((size) => (typeof size === "number" ? size : size === "batch_size" ? 1 : 0)),
              [],
            );
          const values = { input_ids: ids, attention_mask: ids.map(() => 1), position_ids: positions }[name];
          return [name, builder.constant(values === undefined ? empty() : int64Literal(values, [1, ids.length]))];
        }),
      );
      const result = source.trace(given, builder).get("logits");
      if (result === undefined || !isTensor(result)) throw new Error("there are no logits");
      expect(worst(Float32Array.from(toNumbers(result.constant!)), Float32Array.from(logits))).toBeLessThan(1e-5);
    },
  );
});
