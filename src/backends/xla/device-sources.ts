/** What decoders read of sources, in the memory of a device. */
import { required } from "../../contract/checked.ts";
import type { SourceStates } from "../../engine/compilation.ts";
import { byteSize, type TensorType } from "../../engine/ir/tensor-type.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { DeviceTensor, HostTensor } from "./pjrt/device-tensor.ts";

/** The tensors of sources are copied to the device at their first use, and stay there until their source is released. */
export class DeviceSources {
  readonly #client: PjrtClient;
  readonly #sources = new Map<SourceStates, Map<string, DeviceTensor>>();

  constructor(client: PjrtClient) {
    this.#client = client;
  }

  /** Bytes on the device. */
  get bytes(): number {
    const all = [...this.#sources.values()].flatMap((tensors) => [...tensors.values()]);
    return all.reduce((sum, { type }) => sum + byteSize(type), 0);
  }

  /** A tensor of a source by its name. */
  getTensor(source: SourceStates, name: string, type: TensorType): DeviceTensor {
    const tensors = this.#sources.get(source) ?? new Map<string, DeviceTensor>();
    this.#sources.set(source, tensors);
    const known = tensors.get(name);
    if (known !== undefined) return known;
    const { data } = required(source.tensors[name], name);
    const tensor = this.#client.upload({ type, data: data as HostTensor["data"] });
    tensors.set(name, tensor);
    return tensor;
  }

  release(source: SourceStates): void {
    for (const tensor of this.#sources.get(source)?.values() ?? []) tensor.dispose();
    this.#sources.delete(source);
  }

  dispose(): void {
    for (const source of this.#sources.keys()) this.release(source);
  }
}
