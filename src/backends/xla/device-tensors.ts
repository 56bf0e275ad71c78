/** Tensors that stay in the memory of a device while their owners need them. */
import { byteSize } from "../../engine/ir/tensor-type.ts";
import type { DeviceTensor } from "./pjrt/device-tensor.ts";

/** Tensors by their owner and a name. */
export class DeviceTensors {
  readonly #tensors = new Map<object, Map<string, DeviceTensor>>();

  /** Bytes on the device. */
  get bytes(): number {
    const all = [...this.#tensors.values()].flatMap((named) => [...named.values()]);
    return all.reduce((sum, { type }) => sum + byteSize(type), 0);
  }

  /** The tensor with this owner and name, which `make` copies to the device at its first use. */
  get(owner: object, name: string, make: () => DeviceTensor): DeviceTensor {
    const named = this.#tensors.get(owner) ?? new Map<string, DeviceTensor>();
    this.#tensors.set(owner, named);
    const tensor = named.get(name) ?? make();
    named.set(name, tensor);
    return tensor;
  }

  /** Frees the tensors of an owner. */
  release(owner: object): void {
    for (const tensor of this.#tensors.get(owner)?.values() ?? []) tensor.dispose();
    this.#tensors.delete(owner);
  }

  dispose(): void {
    for (const owner of this.#tensors.keys()) this.release(owner);
  }
}
