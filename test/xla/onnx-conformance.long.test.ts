/**
 * ONNX's own conformance cases as StableHLO programs on XLA, through a PJRT plugin: all of them with TEST_SLOW=1, else every twelfth. Cases with strings,
 * sequences, numbers below a byte, and shapes that depend on values have no single program.
 */
import { describe, expect, it } from "vitest";
import { PjrtClient } from "../../src/backends/xla/pjrt/client.ts";
import { PjrtPlugin } from "../../src/backends/xla/pjrt/plugin.ts";
import { ForeignFunctions, cLibraryPath } from "../../src/libraries/ffi/index.ts";
import { findCases } from "../../scripts/conformance/cases.ts";
import { judge } from "../../scripts/conformance/judge.ts";
import { openerOnXla } from "../../scripts/conformance/xla.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";
import { pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const plugin = hasSharedData ? await pjrtPlugin() : { reason: "there is no shared data" };
const [skip, title] = needsData(`ONNX conformance on XLA${"reason" in plugin ? ` (skipped: ${plugin.reason})` : ""}`);

/** As the case itself: the middle of the transform is 0, and the case holds what float32 leaves of it. */
const known = new Set(["node/test_dft_inverse", "node/test_dft_inverse_opset19"]);

describe.skipIf(skip || "reason" in plugin)(title, () => {
  it("gives no wrong answer, and more than three quarters pass", async () => {
    const open = await openerOnXla("path" in plugin ? plugin.path : undefined);
    const cases = findCases(`${sharedData}onnx-conformance`).filter((_case, index) => runsAll || index % 12 === 5);
    const outcomes = { passed: 0, refused: 0, wrong: [] as string[] };
    for (const each of cases) {
      const { verdict, reason } = await judge(each, open);
      if (verdict !== "failed") outcomes[verdict] += 1;
      else if (!known.has(each.name)) outcomes.wrong.push(`${each.name}: ${reason}`);
    }
    expect(outcomes.wrong).toEqual([]);
    expect(outcomes.passed / cases.length).toBeGreaterThan(0.75);
  });
});

const adding = `func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "func.return"(%0) : (tensor<2xf32>) -> ()
}`;
const two = { dataType: "float32", shape: [2] } as const;
const types = { arguments: [two, two], results: [two] };

describe.skipIf("reason" in plugin)("a PJRT plugin", () => {
  const open = async (): Promise<PjrtClient> => {
    const ffi = await ForeignFunctions.load();
    return new PjrtClient(PjrtPlugin.open(ffi, "path" in plugin ? plugin.path : ""), { cpu_device_count: { integer: 1 } });
  };

  it("computes", async () => {
    const client = await open();
    const [a, b] = [
      [1, 2],
      [10, 20],
    ].map((values) => client.upload({ type: two, data: Float32Array.from(values) }));
    const program = client.compile(adding, types);
    const [sum] = program.run([a!, b!]);
    expect(client.platform).toBe("cpu");
    expect([...(sum!.read().data as Float32Array)]).toEqual([11, 22]);
  });

  it("is not given what it would read wrongly, or end the process of", async () => {
    const client = await open();
    const program = client.compile(adding, types);
    const [float, whole, three] = [
      client.upload({ type: two, data: Float32Array.of(1, 2) }),
      client.upload({ type: { dataType: "int32", shape: [2] }, data: Int32Array.of(1, 2) }),
      client.upload({ type: { dataType: "float32", shape: [1, 2] }, data: Float32Array.of(1, 2) }),
    ];
    expect(() => program.run([float, whole])).toThrow("argument 1 is int32[2], expected float32[2]");
    expect(() => program.run([float, three])).toThrow("argument 1 is float32[1,2], expected float32[2]");
    expect(() => program.run([float])).toThrow("the program takes 2 arguments, got 1");
    expect(() => client.upload({ type: two, data: Float32Array.of(1) })).toThrow("4 bytes are not float32[2]");
    expect(() => client.compile(" ", types)).toThrow("the program is empty");
    for (const each of [float, float]) each.dispose();
    expect(() => program.run([float, float])).toThrow("the tensor was freed");
    for (const each of [program, program]) each.dispose();
    expect(() => program.run([three, three])).toThrow("the program was freed");
  });

  it("says what is wrong with a program", async () => {
    const client = await open();
    expect(() => client.compile(adding.replace("stablehlo.add", "stablehlo.ad"), types)).toThrow(
      /PJRT_Client_Compile failed \(status \d+\): .*stablehlo\.ad/s,
    );
  });

  it("is refused where the library is none", async () => {
    const ffi = await ForeignFunctions.load();
    expect(() => PjrtPlugin.open(ffi, cLibraryPath())).toThrow(/has no function GetPjrtApi/);
  });
});
