/**
 * Devices that Windows lists in its registry: Direct3D 12 adapters, which DirectML uses, and neural processors. They are read
 * with reg.exe, which starts much faster than PowerShell; names and types of values are not localized.
 */
import type { Accelerator } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { ProbeResult } from "./probe-result.ts";
import type { MachineSources, CommandOutput } from "../sources.ts";
import { absent, found } from "./probe-result.ts";
import { windowsSystemDirectory } from "../libraries.ts";

/** One adapter per subkey, written by DXGI when it enumerates them. */
const adaptersKey = "HKLM\\SOFTWARE\\Microsoft\\DirectX";

/** Drivers of the setup class ComputeAccelerator (GUID_DEVCLASS_COMPUTEACCELERATOR in devguid.h). */
const neuralKey = "HKLM\\SYSTEM\\CurrentControlSet\\Control\\Class\\{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}";

/** PCI vendor of Microsoft's software adapters. Their names are localized, the vendor is not. */
const microsoft = 0x1414n;

/** Looks for graphics adapters that support Direct3D 12. Windows only. */
export async function probeDirectMl(sources: MachineSources): Promise<ProbeResult> {
  if (sources.platform !== "win32") return absent(`DirectML needs Windows, and this is ${sources.platform}`);
  const library = `${windowsSystemDirectory(sources)}\\d3d12.dll`;
  if (!(await sources.exists(library))) return absent(`no Direct3D 12 on this machine (${library} not found)`);
  const output = await query(sources, adaptersKey);
  if (!output.ok && output.stdout === "") return absent(`the list of graphics adapters cannot be read: ${output.reason}`);
  const adapters = currentAdapters(parseRegistry(output.stdout)).filter((adapter) => number(adapter, "VendorId") !== microsoft);
  const capable = adapters.filter((adapter) => number(adapter, "MaxD3D12FeatureLevel") !== 0n);
  const names = adapters.map((adapter) => adapter.get("Description") ?? "unnamed adapter");
  return found(
    capable.map((adapter, index) => directMlDevice(adapter, index, capable.length)),
    adapters.length === 0
      ? "no graphics adapter besides Microsoft's software ones"
      : `no adapter supports Direct3D 12 (${names.join(", ")})`,
  );
}

/** Looks for drivers of neural processors on Windows. */
export async function findWindowsNeuralProcessors(sources: MachineSources): Promise<ProbeResult> {
  const { stdout } = await query(sources, neuralKey);
  const drivers = parseRegistry(stdout).filter((driver) => driver.has("DriverDesc"));
  return found(
    drivers.map(neuralDevice),
    "no driver of a neural processor on this machine (setup class ComputeAccelerator is empty)",
  );
}

function neuralDevice(driver: RegistryKey, index: number): Accelerator {
  const driverVersion = driver.get("DriverVersion");
  return {
    device: { type: "npu", index },
    name: driver.get("DriverDesc") ?? "neural processor",
    source: neuralKey,
    ...omitUndefined({ driverVersion }),
  };
}

type RegistryKey = ReadonlyMap<string, string>;

function query(sources: MachineSources, key: string): Promise<CommandOutput> {
  return sources.run(`${windowsSystemDirectory(sources)}\\reg.exe`, ["query", key, "/s"]);
}

/** Parses the output of `reg query` into the values of each key: a line with the key, then lines with name, type and data. */
function parseRegistry(text: string): readonly RegistryKey[] {
  const keys: Map<string, string>[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("HKEY_")) keys.push(new Map());
    const [, name, type, data] = /^ {4}(\S.*?) {4}REG_(\w+)(?: {4}(.*))?$/.exec(line) ?? [];
    // The data of other types may look like a number or a name and is neither.
    if (name !== undefined && type !== undefined && ["SZ", "DWORD", "QWORD"].includes(type)) keys.at(-1)?.set(name, data ?? "");
  }
  return keys;
}

/** Filters out removed adapters, which stay listed: their LastSeen is older than that of the parent key. */
function currentAdapters(keys: readonly RegistryKey[]): readonly RegistryKey[] {
  const latest = keys.filter((key) => !key.has("AdapterLuid")).map((key) => number(key, "LastSeen") ?? 0n);
  const newest = latest.reduce((max, seen) => (seen > max ? seen : max), 0n);
  return keys.filter((key) => key.has("AdapterLuid") && (number(key, "LastSeen") ?? newest) >= newest);
}

function directMlDevice(adapter: RegistryKey, index: number, count: number): Accelerator {
  const totalBytes = number(adapter, "DedicatedVideoMemory");
  const driverVersion = number(adapter, "DriverVersion");
  const order = count === 1 ? "" : ", in the registry's order; DXGI may number them otherwise";
  const level = number(adapter, "MaxD3D12FeatureLevel") === undefined ? "; its Direct3D 12 feature level is not recorded" : "";
  return {
    device: { type: "directml", index },
    name: adapter.get("Description") ?? "unnamed adapter",
    source: `${adaptersKey}${order}${level}`,
    ...(totalBytes === undefined || totalBytes === 0n ? {} : { memory: { totalBytes: Number(totalBytes) } }),
    ...(driverVersion === undefined ? {} : { driverVersion: fourParts(driverVersion) }),
  };
}

/** Formats a version that is packed into one 64-bit number as four 16-bit parts, the most significant first. */
function fourParts(version: bigint): string {
  return [48n, 32n, 16n, 0n].map((shift) => (version >> shift) & 0xffffn).join(".");
}

/** Parses a number, which reg.exe prints as "0x…". */
function number(key: RegistryKey, name: string): bigint | undefined {
  const text = key.get(name) ?? "";
  return /^0x[\da-f]+$/i.test(text) ? BigInt(text) : undefined;
}
