import { describe, expect, test } from "vitest";
import type { TensorMap } from "../../../contract/tensor.ts";
import type { LoadedGraph } from "../../definition/media-task.ts";
import { openSilero } from "./silero.ts";

const info = (name: string) => ({ name, dataType: "float32", shape: [] }) as const;

/** A graph that keeps its inputs; its probability is the number of the run over 100, its state the number of runs. */
function recorder(inputs: readonly string[], outputs: readonly string[]): { graph: LoadedGraph; runs: TensorMap[] } {
  const runs: TensorMap[] = [];
  const run = async (given: TensorMap): Promise<TensorMap> => {
    runs.push(given);
    const windows = given["input"]!.shape[0]!;
    const [probabilities, ...states] = outputs;
    const data = new Float32Array(windows).fill(runs.length / 100);
    return Object.fromEntries([
      [probabilities!, { dataType: "float32", shape: [windows], data }],
      ...states.map((name) => [name, { dataType: "float32", shape: [1], data: Float32Array.of(runs.length) }]),
    ]) as TensorMap;
  };
  return { runs, graph: { inputs: inputs.map(info), outputs: outputs.map(info), run } };
}

const ramp = (length: number): Float32Array => Float32Array.from({ length }, (_, index) => index + 1);

describe("Silero's network", () => {
  test("each window follows the end of the one before, and the state is passed on", async () => {
    const { graph, runs } = recorder(["input", "state", "sr"], ["output", "stateN"]);
    const stream = openSilero(graph, "vad");
    const first = await stream.push(ramp(700));
    const rest = await stream.push(ramp(700));
    expect([first, rest, await stream.finish()].map((piece) => [...piece].map((value) => Math.round(value * 100)))).toEqual([
      [1],
      [2],
      [3],
    ]);
    const inputs = runs.map(({ input }) => input!.data as Float32Array);
    expect([...inputs[0]!.subarray(0, 66)]).toEqual([...new Float32Array(64), 1, 2]);
    expect([...inputs[1]!.subarray(0, 66)]).toEqual([...ramp(512).subarray(448), 513, 514]);
    expect(inputs[2]!.subarray(576 - 136 - 2, 576 - 136 + 1)).toEqual(Float32Array.of(699, 700, 0));
    expect(runs.map(({ state }) => (state!.data as Float32Array)[0])).toEqual([0, 1, 2]);
    expect(runs[0]!["sr"]).toEqual({ dataType: "int64", shape: [], data: BigInt64Array.of(16_000n) });
  });

  test("the variant for sequences takes many windows in a run", async () => {
    const { graph, runs } = recorder(["input", "h", "c"], ["speech_probs", "hn", "cn"]);
    const done: number[] = [];
    const stream = openSilero(graph, "vad", { onWindows: (windows) => done.push(windows) });
    expect(await stream.push(ramp(512 * 300))).toHaveLength(300);
    expect(await stream.finish()).toHaveLength(0);
    expect(runs.map(({ input }) => input!.shape)).toEqual([
      [256, 576],
      [44, 576],
    ]);
    const second = runs[0]!["input"]!.data as Float32Array;
    expect([...second.subarray(576, 578)]).toEqual([449, 450]);
    expect(done).toEqual([256, 300]);
  });

  test("other networks are refused, and an aborted signal ends the call", async () => {
    expect(() => openSilero(recorder(["pixel_values"], ["logits"]).graph, "vit")).toThrow("vit has the inputs pixel_values");
    const { graph } = recorder(["input", "state"], ["output", "stateN"]);
    const stream = openSilero(graph, "vad", { signal: AbortSignal.abort() });
    await expect(stream.push(ramp(512))).rejects.toMatchObject({ code: "ABORTED" });
  });
});
