import { expect, it } from "vitest";
import { type XlaSettings, checkXlaSettings } from "./xla-settings.ts";
import { xla } from "./index.ts";

it.each<[XlaSettings, string]>([
  [{ memoryFraction: 0 }, "xla.memoryFraction is 0, and must be above 0 and at most 1"],
  [{ memoryFraction: 1.01 }, "xla.memoryFraction is 1.01"],
  [{ programCacheBytes: -1 }, "xla.programCacheBytes is -1, and must be a whole number from 0"],
  [{ programCacheBytes: 0.5 }, "xla.programCacheBytes is 0.5"],
  [{ memoryFraction: Number.NaN }, "xla.memoryFraction is NaN"],
  [{ plugin: "" }, 'xla.plugin is "", and must be a path'],
  [{ buckets: { batch: [] } }, "xla.buckets.batch is [], and must be a list of whole numbers above 0"],
  [{ buckets: { batch: [1, 1] } }, "xla.buckets.batch is [1,1], and must be in ascending order"],
  [{ buckets: { sequence: [16, 8] } }, "xla.buckets.sequence is [16,8], and must be in ascending order"],
  [{ buckets: { sequence: [1.5] } }, "must be a list of whole numbers above 0"],
  [{ buckets: { rows: [1] } as object }, "xla.buckets.rows is no axis: the axes are batch and sequence"],
  [{ devices: 1 } as object, "xla.devices is no setting of xla"],
])("%j is refused", (settings, message) => {
  const refusal: unknown = expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(message) });
  expect(() => checkXlaSettings(settings)).toThrow(refusal);
  expect(() => xla(settings)).toThrow(refusal);
});

it("the process of a model has the settings", () => {
  const settings = {
    plugin: "/opt/plugin.so",
    memoryFraction: 0.5,
    buckets: { batch: [1, 8], sequence: [32, 128] },
    programCacheBytes: 0,
  };
  expect(xla(settings).entry?.options).toEqual({ ...settings, probed: [] });
  expect(xla().entry?.options).toEqual({ probed: [] });
});
