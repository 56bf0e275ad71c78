/** The constants of one model in the memory of its device. */
import { at } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { ModelFolding } from "../../engine/compilation.ts";
import { elementTypes } from "../../engine/ir/element-types.ts";
import { transposeMatrix } from "../../engine/ir/lazy-storage.ts";
import { storageIdentity } from "../../engine/ir/literal.ts";
import { describeType, type TensorType } from "../../engine/ir/tensor-type.ts";
import { DeviceTensors } from "./device-tensors.ts";
import type { PjrtClient } from "./pjrt/client.ts";
import type { DeviceTensor, HostTensor } from "./pjrt/device-tensor.ts";
import type { ConstantArgument } from "./xla-services.ts";

/** Constants are copied to the device at their first use, and are shared by the programs for all shapes. */
export class DeviceConstants {
  readonly #client: PjrtClient;
  readonly #folding: ModelFolding;
  /** Tensors by the identity of their storage, and by their type and the order of their axes. */
  readonly #tensors = new DeviceTensors();

  constructor(client: PjrtClient, folding: ModelFolding) {
    this.#client = client;
    this.#folding = folding;
  }

  /** Bytes on the device. */
  get bytes(): number {
    return this.#tensors.bytes;
  }

  /** The tensor of a constant; see `XlaServices.constantOn`. */
  getTensor({ literal, type, isSwapped = false }: ConstantArgument, own: Set<DeviceTensor>): DeviceTensor {
    const upload = (): DeviceTensor => {
      const { data } = literal;
      if (!ArrayBuffer.isView(data)) throw new InferyardError("MODEL_UNSUPPORTED", "XLA has no tensors of strings");
      return this.#client.upload({ type, data, ...(isSwapped ? { byteStrides: swappedStrides(type) } : {}) });
    };
    if (!this.#folding.cache.isModelConstant(literal)) {
      const tensor = upload();
      own.add(tensor);
      return tensor;
    }
    const key = `${describeType(type)}${isSwapped ? " swapped" : ""}`;
    return this.#tensors.get(storageIdentity(literal), key, () => {
      const tensor = upload();
      // The device has the elements now; who needs them again reads them back.
      literal.storage?.release({
        materialize: () => (isSwapped ? withSwappedAxes(tensor.read()) : tensor.read().data) as Uint8Array,
      });
      return tensor;
    });
  }

  dispose(): void {
    this.#tensors.dispose();
  }
}

/** Strides with which a matrix of this type is read from elements in column-major order. */
function swappedStrides({ dataType, shape }: TensorType): readonly number[] {
  const bytes = elementTypes[dataType].bits / 8;
  return [bytes, bytes * at(shape, 0)];
}

/** The elements of a matrix in column-major order. */
function withSwappedAxes({ type, data }: HostTensor): ArrayBufferView {
  const [rows, columns] = [at(type.shape, 0), at(type.shape, 1)];
  const from = data as Float32Array;
  const to = new (from.constructor as Float32ArrayConstructor)(elementCount(type.shape));
  transposeMatrix(from, to, rows, columns);
  return to;
}
