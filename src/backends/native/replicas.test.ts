import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { TensorModel, LoadSettings } from "../../contract/backend.ts";
import type { ReplicaModel, ReplicaSlot } from "../../contract/replicas.ts";
import { integer, message, model, node, value } from "../../../test/fixtures/models/onnx-bytes.ts";
import type { NativeReplicaState } from "./replica-sharing.ts";
import { native } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-native-replicas-"));
afterAll(() => rmSync(folder, { recursive: true }));

const size = 200;

/** x [n, 200] times weights beside the file, or in it. */
function save(name: string, factor: number, external?: string): string {
  const bytes = Buffer.from(Float32Array.from({ length: size * size }, (_, index) => (index % 13) * factor).buffer);
  if (external !== undefined) writeFileSync(join(folder, external), bytes);
  const entry = message(13, message(1, "location"), message(2, external ?? ""));
  const content = external === undefined ? [message(9, bytes)] : [entry, integer(14, 1)];
  const graph = [
    value(11, "x", 1, ["n", size]),
    message(5, integer(1, size), integer(1, size), integer(2, 1), message(8, "w"), ...content),
    node({ operator: "MatMul", inputs: ["x", "w"], outputs: ["y"] }),
    value(12, "y", 1, ["n", size]),
  ];
  const path = join(folder, name);
  writeFileSync(path, model({ opsets: { "": 17 }, graph }));
  return path;
}

/** Longer ago than a file's clock could be wrong about. */
const settled = (): Promise<void> => setTimeout(150);

function load(path: string, replica: ReplicaSlot, settings: LoadSettings = {}): Promise<ReplicaModel> {
  return native().loadReplica({ format: "onnx", path, bytes: 1000, config: {} }, { type: "cpu", index: 0 }, settings, replica);
}

function liveReplicas(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(8);
  new Int32Array(buffer).set([1, 2]);
  return buffer;
}

async function bits(loaded: TensorModel): Promise<string> {
  const x = { dataType: "float32", shape: [2, size], data: new Float32Array(2 * size).fill(0.5) } as const;
  const { y } = await loaded.run({ x });
  return Buffer.from((y!.data as Float32Array).buffer).toString("base64");
}

const weightBytes = size * size * 4;

describe("a replica of a model on our own engine", () => {
  it.each([
    ["in the model's file", undefined],
    ["in a file beside it", "beside.bin"],
  ])("reads the weights another one packed %s, and is refused once that file was written again", async (_where, external) => {
    const path = save("shared.onnx", 1, external);
    await settled();
    const slot = { liveReplicas: liveReplicas(), index: 0 };
    const first = await load(path, slot);
    const sharedState = first.sharing?.exportState();
    const replica = await load(path, { ...slot, index: 1, sharedState });
    expect(await bits(replica)).toBe(await bits(first));
    expect(replica.memory).toMatchObject({ measure: "allocated" });
    expect([first.memory.bytes > weightBytes, replica.memory.bytes < weightBytes]).toEqual([true, true]);

    save("shared.onnx", 2, external); // as long as before
    for (const each of [path, ...(external === undefined ? [] : [join(folder, external)])]) utimesSync(each, 1, 1);
    await settled();
    await expect(load(path, { ...slot, index: 1, sharedState })).rejects.toMatchObject({ code: "MODEL_INVALID" });
    expect(await bits(await load(path, { liveReplicas: liveReplicas(), index: 0 }))).not.toBe(await bits(first));
  });

  it("shares nothing of a file that was written just now: it may be written again at the same tick of its clock", async () => {
    const path = save("new.onnx", 1);
    const written = statSync(path).ctimeMs;
    const now = vi.spyOn(Date, "now");
    const isShared = async (): Promise<boolean> =>
      (await load(path, { liveReplicas: liveReplicas(), index: 0 })).sharing !== undefined;
    try {
      now.mockReturnValue(written + 5);
      expect(await isShared()).toBe(false);
      now.mockReturnValue(written + 5000);
      expect(await isShared()).toBe(true);
    } finally {
      now.mockRestore();
    }
  });

  it("packs for itself what another version of the package has packed, and what was packed for other settings", async () => {
    const path = save("settings.onnx", 1);
    await settled();
    const slot = { liveReplicas: liveReplicas(), index: 0 };
    const first = await load(path, slot);
    const given = first.sharing?.exportState() as NativeReplicaState;
    const older = await load(path, { ...slot, index: 1, sharedState: { ...given, version: "0.0.1" } });
    const other = await load(path, { ...slot, index: 1, sharedState: given }, { graphOptimization: "disabled" });
    for (const each of [older, other]) {
      expect(each.memory.bytes).toBeGreaterThan(weightBytes);
      expect(await bits(each)).toBe(await bits(first));
    }
  });

  it("has a memory of its own where the others leave it no room", async () => {
    const path = save("full.onnx", 1);
    await settled();
    const slot = { liveReplicas: liveReplicas(), index: 0 };
    const first = await load(path, slot);
    const given = first.sharing?.exportState() as NativeReplicaState;
    new Int32Array(given.engine.regions)[0] = 2 ** 26 - 1; // as if all 4 GiB were taken
    const nothingPacked = { ...given, engine: { ...given.engine, places: new Map() } };
    const replica = await load(path, { ...slot, index: 1, sharedState: nothingPacked });
    expect(replica.memory.bytes).toBeGreaterThan(weightBytes);
    expect(await bits(replica)).toBe(await bits(first));
  });
});
