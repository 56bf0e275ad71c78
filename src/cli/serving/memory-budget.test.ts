import { expect, it } from "vitest";
import { version1Container } from "../../../test/devices/recorded/containers.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { defaultMemoryBudget } from "./memory-budget.ts";

it("is a share of what the machine has, or of what its control group allows", async () => {
  expect(await defaultMemoryBudget(recordedSources(noGpu))).toEqual({
    value: Math.floor(0.8 * 24684084 * 1024),
    source: "80 % of MemTotal in /proc/meminfo",
  });
  expect((await defaultMemoryBudget(recordedSources(version1Container))).value).toBe(Math.floor(0.8 * 512 * 1024 ** 2));
});
