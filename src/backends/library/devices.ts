/** The devices that a llama library computes on: the CPU, and each device whose part of ggml is in the same folder. */
import { readdir } from "node:fs/promises";
import type { Device, MachineFacts } from "../../contract/backend.ts";
import { deviceTypes } from "./device-types.ts";
import { getFolder } from "./find-library.ts";

/** A device that the library's files permit. */
export interface OfferedDevice {
  readonly device: Device;
  /** Why the machine has no such device. Undefined if it may have one. */
  readonly absence: string | undefined;
}

/** The devices of the library at `path`, by the names of the files beside it. */
export async function offeredDevices(path: string, { accelerators, absent }: MachineFacts): Promise<readonly OfferedDevice[]> {
  const files = await readdir(await getFolder(path)).catch((): string[] => []);
  return deviceTypes
    .filter(({ name }) => name === "cpu" || files.some((file) => new RegExp(`ggml-${name}[.-]`).test(file)))
    .map(({ name }): OfferedDevice => {
      const isThere = name === "cpu" || accelerators.some(({ device }) => device.type === name);
      return { device: { type: name, index: 0 }, absence: isThere ? undefined : (absent[name] ?? `no ${name} device was found`) };
    });
}
