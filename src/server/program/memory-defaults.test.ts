import { expect, it } from "vitest";
import { version1Container } from "../../../test/devices/recorded/containers.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { getMemoryDefaults } from "./memory-defaults.ts";

it("are shares of what the machine has, or of what its control group allows", async () => {
  expect(await getMemoryDefaults(recordedSources(noGpu))).toEqual({
    maxMemory: { value: Math.floor(0.8 * 24684084 * 1024), source: "80 % of MemTotal in /proc/meminfo" },
    maxRunMemory: 24684084 * 256,
  });
  const { maxMemory, maxRunMemory } = await getMemoryDefaults(recordedSources(version1Container));
  expect([maxMemory.value, maxRunMemory]).toEqual([Math.floor(0.8 * 512 * 1024 ** 2), 128 * 1024 ** 2]);
});
