import { describe, expect, it } from "vitest";
import { byUniqueUuid, visibleDevices } from "./visible-devices.ts";

const devices = [
  { uuid: "GPU-1aaa", name: "a" },
  { uuid: "GPU-1abb", name: "b" },
  { uuid: "GPU-2ccc", name: "c" },
];

function names(list: string): readonly string[] {
  const visible = visibleDevices(list, {
    byNumber: (number) => devices[number],
    byUuid: (start) => byUniqueUuid(devices, start),
  });
  return visible.map(({ name }) => name);
}

describe("visibleDevices reads a list as the CUDA driver does", () => {
  it.each([
    ["1", ["b"]],
    ["2,0", ["c", "a"]],
    [" 1 , 2", ["b", "c"]],
    ["GPU-2c", ["c"]],
    ["gpu-2CCC,0", ["c", "a"]],
    ["", []],
    ["-1", []],
    ["0,-1,2", ["a"]],
    ["0,7,1", ["a"]],
    ["none", []],
    ["1gpu2,2ampere", ["b", "c"]],
  ])("%j leaves %j", (list, expected) => {
    expect(names(list)).toEqual(expected);
  });

  it("hides everything when a device is named twice", () => {
    expect(names("0,0")).toEqual([]);
    expect(names("1,GPU-1abb")).toEqual([]);
  });

  it("does not guess between two UUIDs with the same start", () => {
    expect(names("GPU-1a")).toEqual([]);
  });
});
