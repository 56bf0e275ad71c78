/** `doctor --full` tries every device, where a runtime tries none that the machine does not have; it repeats every self-test that was remembered. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createRuntime } from "inferyard";
import { llamacpp } from "inferyard/backends/llamacpp";
import { native } from "inferyard/backends/native";
import { onnx } from "inferyard/backends/onnx";
import { inferyard } from "../fixtures/processes/command-line.ts";

const homeBefore = process.env["INFERYARD_HOME"];
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "inferyard-devices-"));
  process.env["INFERYARD_HOME"] = home;
});
afterEach(() => {
  if (homeBefore === undefined) delete process.env["INFERYARD_HOME"];
  else process.env["INFERYARD_HOME"] = homeBefore;
  rmSync(home, { recursive: true });
});

interface Target {
  readonly target: string;
  readonly state: string;
  readonly reason: string;
  readonly warning?: string;
  readonly milliseconds?: number;
}

it("a device that the machine does not have is not tried; with doctor --full it is, and the engine says why", async () => {
  const ours = await createRuntime({ backends: [native(), llamacpp()] });
  await ours.backends({ run: true }); // so that there is something to remember
  await ours.dispose();
  const runtime = await createRuntime({ backends: [onnx()] });
  const [report] = await runtime.backends({ run: true });
  await runtime.dispose();
  const { stdout } = await inferyard(["doctor", "--json", "--full"]);
  const { targets } = JSON.parse(stdout) as { targets: Target[] };
  const devices = report!.availability.present ? report!.availability.devices : [];
  for (const { device, state, reason, milliseconds } of devices) {
    const tried = targets.find(({ target }) => target.startsWith(`onnx:${device.type}`))!;
    expect(tried).toMatchObject({ state, reason: expect.stringContaining(reason), milliseconds: expect.any(Number) });
    expect(milliseconds === undefined, `${device.type}: ${reason}`).toBe(state === "absent" && tried.reason !== reason);
  }
  expect(targets.find(({ target }) => target === "native:cpu")?.reason).toMatch(
    /; \d{3} functions of generated code agree with the interpreter(; machine code with .*)?$/,
  );
  expect(targets.find(({ target }) => target === "llamacpp:cpu")?.reason).toMatch(/^a tiny model gives the right logits; /);
});
