/** Mirage's programs at small sizes, against values that NumPy computed in float64 (bench/programs/goldens.py). */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileProgram, nativePrograms, ProgramBackends } from "inferyard/program";
import { miragePrograms, mirageTensors } from "../../bench/programs/mirage-programs.mjs";

interface Golden {
  readonly sizes: Readonly<Record<string, number>>;
  readonly values: readonly number[];
}

const goldens = JSON.parse(readFileSync(new URL("fixtures/mirage-goldens.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Golden>
>;
const backends = new ProgramBackends([nativePrograms()]);

describe.each(["native", "native:wasm"])("Mirage's programs on %s", (backend) => {
  it.each(Object.keys(miragePrograms))("%s", async (name) => {
    const { sizes, values } = goldens[name] ?? { sizes: {}, values: [] };
    const program = miragePrograms[name]?.(sizes);
    if (program === undefined) throw new Error(`${name} is missing`);
    const kernel = await compileProgram(program, {
      backend,
      backends,
      weights: mirageTensors(program.weights, 11),
      mode: "throughput",
    });
    const { y } = await kernel.run(mirageTensors(program.inputs, 1));
    await kernel.dispose();
    expect(y?.data).toHaveLength(values.length);
    const worst = Math.max(...values.map((value, index) => Math.abs(value - Number(y?.data[index]))));
    expect(worst).toBeLessThan(1e-5 * Math.max(...values.map(Math.abs)));
  });
});
