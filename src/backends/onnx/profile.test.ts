import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { LoadSettings } from "../../contract/backend.ts";
import { makeProfileFolder, profilingOptions, readEvidence } from "./profile.ts";
import { type Provider, getProvider } from "./providers.ts";

const provider = (type: string): Provider => getProvider({ type, index: 0 })!;

/** A profile as onnxruntime 1.30 writes it: a list of events, of which those of the category "Node" name a provider. */
function profileOf(nodes: readonly string[]): string {
  const session = { cat: "Session", name: "model_run", ph: "X", args: {} };
  const events = nodes.map((name) => ({
    cat: "Node",
    name: "MatMul_kernel_time",
    ph: "X",
    args: { provider: name, op_name: "MatMul" },
  }));
  return JSON.stringify([session, ...events]);
}

async function evidenceOfProfile(profile: string, type: string, cpuNodes?: LoadSettings["cpuNodes"]): Promise<readonly string[]> {
  const folder = await makeProfileFolder();
  if ("failure" in folder) throw new Error(folder.failure);
  expect(profilingOptions(folder)).toEqual({ enableProfiling: true, profileFilePrefix: join(folder.path, "run") });
  const session = { endProfiling: () => writeFileSync(join(folder.path, "run_2026-11-21.json"), profile) };
  return readEvidence(session, folder, provider(type), cpuNodes).finally(() => expect(existsSync(folder.path)).toBe(false));
}

const evidenceOf = (nodes: readonly string[], type: string, cpuNodes?: LoadSettings["cpuNodes"]): Promise<readonly string[]> =>
  evidenceOfProfile(profileOf(nodes), type, cpuNodes);

const [cpu, cuda] = ["CPUExecutionProvider", "CUDAExecutionProvider"];

describe("evidence from onnxruntime's profile", () => {
  it("counts the nodes that the provider asked for has computed", async () => {
    expect(await evidenceOf([cpu, cpu, cpu], "cpu")).toEqual([
      "onnxruntime's profile of the first run: 3 nodes on CPUExecutionProvider",
    ]);
    expect(await evidenceOf([cuda], "cuda")).toEqual(["onnxruntime's profile of the first run: 1 node on CUDAExecutionProvider"]);
  });

  it.each([
    ["cuda", "all on the CPU", [cpu, cpu]],
    ["cuda", "a single node on the CPU", [cuda, cuda, cpu]],
    ["cpu", "all on CUDA", [cuda]],
    ["cpu", "a single node on CUDA", [cpu, cpu, cuda]],
  ])("%s: what was computed elsewhere, %s, is not the device that was asked for", async (type, _name, nodes) => {
    await expect(evidenceOf(nodes, type)).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: expect.stringMatching(/C(UDA|PU)ExecutionProvider was asked for/),
    });
  });

  it("single nodes on the CPU are told, not refused, where the caller allows them; the device must still have computed", async () => {
    expect(await evidenceOf([cuda, cpu, cuda], "cuda", "allow")).toEqual([
      "onnxruntime's profile of the first run: 2 nodes on CUDAExecutionProvider, 1 node on CPUExecutionProvider",
    ]);
    await expect(evidenceOf([cpu], "cuda", "allow")).rejects.toMatchObject({ code: "VERIFICATION_FAILED" });
  });

  it("permission for nodes on the CPU permits no node on another device", async () => {
    for (const nodes of [[cuda], [cpu, cuda]])
      await expect(evidenceOf(nodes, "cpu", "allow")).rejects.toMatchObject({ code: "VERIFICATION_FAILED" });
    const refused = evidenceOf([cuda, "TensorrtExecutionProvider"], "cuda", "allow");
    await expect(refused).rejects.toMatchObject({ code: "VERIFICATION_FAILED" });
  });

  it.each([
    ["was not of a run", JSON.stringify([{ cat: "Session", name: "model_loading_uri" }]), /names no execution provider/],
    [
      "has only fences, which name no provider",
      JSON.stringify([{ cat: "Node", name: "MatMul_fence_before", args: { op_name: "MatMul" } }]),
      /names no execution provider/,
    ],
    ["is empty", "", /cannot be read: Unexpected end of JSON input/],
    ["was cut off", profileOf([cpu, cpu]).slice(0, -40), /cannot be read: .*JSON/],
    ["is no list", "7", /cannot be read/],
    ["has an event that is none", "[null]", /cannot be read/],
  ])("a profile that %s proves nothing", async (_case, profile, reason) => {
    for (const type of ["cpu", "cuda"])
      await expect(evidenceOfProfile(profile, type)).rejects.toMatchObject({
        code: "PLACEMENT_UNPROVEN",
        message: expect.stringMatching(reason),
      });
  });

  it("a profile that was not written, or that onnxruntime cannot end, proves nothing", async () => {
    const unproven = { code: "PLACEMENT_UNPROVEN", remedy: expect.stringContaining("TMPDIR") };
    await expect(
      readEvidence({ endProfiling() {} }, await makeProfileFolder(), provider("cpu"), undefined),
    ).rejects.toMatchObject(unproven);
    const broken = {
      endProfiling() {
        throw new Error("no space left on device");
      },
    };
    await expect(readEvidence(broken, await makeProfileFolder(), provider("cpu"), undefined)).rejects.toMatchObject(unproven);
  });

  it("without a folder nothing is profiled, and nothing is proved", async () => {
    vi.stubEnv("TMPDIR", "/dev/null/no-such-folder");
    const folder = await makeProfileFolder();
    vi.unstubAllEnvs();
    expect(folder).toEqual({ failure: expect.stringContaining("no folder for onnxruntime's profile can be created: ENOTDIR") });
    expect(profilingOptions(folder)).toEqual({});
    await expect(readEvidence({ endProfiling() {} }, folder, provider("cpu"), undefined)).rejects.toMatchObject({
      code: "PLACEMENT_UNPROVEN",
    });
  });
});

it("a run without nodes is proof on the CPU only: onnxruntime made constants of the whole graph", async () => {
  await expect(evidenceOfProfile(profileOf([]), "cpu")).resolves.toEqual([
    "onnxruntime's profile of the first run: no nodes, since all outputs are constants",
  ]);
  await expect(evidenceOfProfile(profileOf([]), "cuda")).rejects.toMatchObject({ code: "PLACEMENT_UNPROVEN" });
  await expect(evidenceOfProfile("[]", "cpu")).rejects.toMatchObject({ code: "PLACEMENT_UNPROVEN" });
});
