/** The kinds of devices that llama libraries compute on. */
import type { Device } from "../../contract/backend.ts";

/** One kind of device. */
export interface LibraryDeviceType {
  /** Type of the device in targets. */
  readonly name: "cuda" | "metal" | "vulkan" | "cpu";
  /** Begin of ggml's name of such a device: "CUDA0". */
  readonly prefix: string;
}

/** Device types in order of preference. */
export const deviceTypes: readonly LibraryDeviceType[] = [
  { name: "cuda", prefix: "CUDA" },
  { name: "metal", prefix: "Metal" },
  { name: "vulkan", prefix: "Vulkan" },
  { name: "cpu", prefix: "CPU" },
];

/** The kind of a device; undefined for one that no llama library computes on. A model is spread over all devices of a kind, which are therefore one. */
export function getLibraryDeviceType({ type, index }: Device): LibraryDeviceType | undefined {
  return index === 0 ? deviceTypes.find(({ name }) => name === type) : undefined;
}
