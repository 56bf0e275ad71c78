/** Clients of PJRT plugins for the kinds of devices that XLA computes on. */
import { InferyardError } from "../../contract/errors.ts";
import type { Device } from "../../contract/backend.ts";
import { cLibraryPath, ForeignFunctions } from "../../libraries/ffi/index.ts";
import type { PjrtClientOptions } from "./pjrt/client-options.ts";
import { PjrtClient } from "./pjrt/client.ts";
import { PjrtPlugin } from "./pjrt/plugin.ts";

/** Settings of a client. */
export interface ClientSettings {
  /** Threads that compute, on a CPU. Default: the plugin decides. */
  readonly threads?: number | undefined;
  /** Part of a GPU's memory that is reserved when the client starts, from 0 to 1. Default: nothing is reserved, memory is taken as it is needed. */
  readonly memoryFraction?: number | undefined;
}

/** An open plugin with a client of one device. */
export interface OpenClient {
  readonly plugin: PjrtPlugin;
  readonly client: PjrtClient;
}

/** Types of devices by the platform that a client reports. */
const deviceTypes: Readonly<Record<string, string>> = { cpu: "cpu", cuda: "cuda", rocm: "rocm", tpu: "tpu" };

/** The type of device of a platform, as targets name it; undefined for platforms that are not known. */
export function getXlaDeviceType(platform: string): string | undefined {
  return deviceTypes[platform.toLowerCase()];
}

/** Opens a plugin and a client of its device with this index. Throws as `PjrtPlugin.open` and the constructor of `PjrtClient` do. */
export async function openClient(path: string, device: Device, settings: ClientSettings): Promise<OpenClient> {
  const ffi = await ForeignFunctions.load();
  const { plugin, client } = openWithVariables(ffi, settings, () => {
    const opened = PjrtPlugin.open(ffi, path);
    return { plugin: opened, client: new PjrtClient(opened, toOptions(device, settings)) };
  });
  const type = getXlaDeviceType(client.platform);
  if (type === device.type) return { plugin, client };
  client.dispose();
  throw new InferyardError("BACKEND_UNAVAILABLE", `the plugin computes on ${client.platform}, not on ${device.type}`, {
    data: { path },
  });
}

/**
 * Opens a plugin whose kind of device is not known, with a client of its first device. A plugin refuses options that its kind of device does not have.
 */
export async function openAnyClient(path: string): Promise<OpenClient> {
  const ffi = await ForeignFunctions.load();
  return openWithVariables(ffi, { threads: 1 }, () => firstClient(PjrtPlugin.open(ffi, path)));
}

function firstClient(plugin: PjrtPlugin): OpenClient {
  let refusal: unknown;
  for (const type of ["cpu", "cuda", "tpu"]) {
    try {
      return { plugin, client: new PjrtClient(plugin, toOptions({ type, index: 0 }, {})) };
    } catch (error) {
      refusal = error;
      if (!isRefusedOption(error)) throw error;
    }
  }
  throw refusal;
}

function toOptions({ type, index }: Device, { memoryFraction }: ClientSettings): PjrtClientOptions {
  if (type === "cpu") return { cpu_device_count: { integer: 1 } };
  if (type !== "cuda" && type !== "rocm") return {};
  return {
    visible_devices: { integers: [index] },
    preallocate: { flag: memoryFraction !== undefined },
    ...(memoryFraction === undefined ? {} : { memory_fraction: { float: memoryFraction } }),
  };
}

/** Code of absl::Status for an invalid argument. */
const invalidArgument = 3;

function isRefusedOption(error: unknown): boolean {
  return error instanceof InferyardError && error.data["status"] === invalidArgument;
}

/**
 * Opens a client while variables of the process that plugins read then are set: the number of threads, and how much they write to standard error. They are
 * set in C, since threads of Node.js have copies of `process.env`, which plugins do not see.
 */
function openWithVariables<Opened>(ffi: ForeignFunctions, { threads }: ClientSettings, open: () => Opened): Opened {
  const library = ffi.open(cLibraryPath());
  const set = library.bind("setenv", { result: "int32", parameters: ["string", "string", "int32"] });
  const unset = library.bind("unsetenv", { result: "int32", parameters: ["string"] });
  const get = library.bind("getenv", { result: "string", parameters: ["string"] });
  const variables = {
    TF_CPP_MIN_LOG_LEVEL: get("TF_CPP_MIN_LOG_LEVEL") ?? "3",
    NPROC: threads === undefined ? undefined : String(threads),
  };
  const before = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value, was: get(name) }],
  );
  for (const { name, value } of before) set(name, value, 1);
  try {
    return open();
  } finally {
    for (const { name, was } of before) {
      if (was === undefined) unset(name);
      else set(name, was, 1);
    }
  }
}
