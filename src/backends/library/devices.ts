/** The devices that a llama library computes on: the CPU, and those whose part of ggml lies beside it. */
import { readdir } from "node:fs/promises";
import type { Device, MachineFacts } from "../../backend.ts";
import { folderOf } from "./find-library.ts";

/** One kind of device. */
export interface LibraryDeviceType {
  /** Type of the device in targets. */
  readonly name: "cuda" | "metal" | "vulkan" | "cpu";
  /** Begin of ggml's name of such a device: "CUDA0". */
  readonly prefix: string;
}

/** In order of preference. */
export const deviceTypes: readonly LibraryDeviceType[] = [
  { name: "cuda", prefix: "CUDA" },
  { name: "metal", prefix: "Metal" },
  { name: "vulkan", prefix: "Vulkan" },
  { name: "cpu", prefix: "CPU" },
];

/** The kind of a device; undefined for one that no llama library computes on. A model is spread over all devices of a kind, which are therefore one. */
export function deviceTypeOf({ type, index }: Device): LibraryDeviceType | undefined {
  return index === 0 ? deviceTypes.find(({ name }) => name === type) : undefined;
}

/** A device that the library's files permit. */
export interface OfferedDevice {
  readonly device: Device;
  /** Why the machine has no such device. Undefined if it may have one. */
  readonly absence: string | undefined;
}

/** The devices of the library at `path`, by the names of the files beside it. */
export async function offeredDevices(path: string, { accelerators, absent }: MachineFacts): Promise<readonly OfferedDevice[]> {
  const files = await readdir(await folderOf(path)).catch((): string[] => []);
  return deviceTypes
    .filter(({ name }) => name === "cpu" || files.some((file) => new RegExp(`ggml-${name}[.-]`).test(file)))
    .map(({ name }): OfferedDevice => {
      const isThere = name === "cpu" || accelerators.some(({ device }) => device.type === name);
      return { device: { type: name, index: 0 }, absence: isThere ? undefined : (absent[name] ?? `no ${name} device was found`) };
    });
}
