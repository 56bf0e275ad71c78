import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { DataType, TensorInfo } from "../../contract/tensor.ts";
import { encoderInputs } from "./encoder-inputs.ts";

const input = (name: string, dataType: DataType = "int64"): TensorInfo => ({
  name,
  dataType,
  shape: ["batch_size", "sequence_length"],
});
const batch = { rows: [{ ids: [101, 7, 102], typeIds: [0, 1, 1] }, { ids: [101] }], length: 3, padId: 9 };

describe("tensors for a text encoder", () => {
  it("ids are padded on the right with the model's padding token, and padding is masked", () => {
    expect(encoderInputs([input("input_ids"), input("attention_mask")], batch)).toEqual({
      input_ids: { dataType: "int64", shape: [2, 3], data: BigInt64Array.of(101n, 7n, 102n, 101n, 9n, 9n) },
      attention_mask: { dataType: "int64", shape: [2, 3], data: BigInt64Array.of(1n, 1n, 1n, 1n, 0n, 0n) },
    });
  });

  it("token types are those of the row, and zeros where it has none; positions count from 0 in every row, and int32 models get int32", () => {
    expect(encoderInputs([input("token_type_ids", "int32"), input("position_ids", "int32")], batch)).toEqual({
      token_type_ids: { dataType: "int32", shape: [2, 3], data: Int32Array.of(0, 1, 1, 0, 0, 0) },
      position_ids: { dataType: "int32", shape: [2, 3], data: Int32Array.of(0, 1, 2, 0, 1, 2) },
    });
  });

  it("the cache of a decoder is empty, wherever its axes are", () => {
    const cache = (dataType: DataType, ...shape: readonly (number | string)[]): TensorInfo => ({
      name: `past_key_values.${shape.length}.key`,
      dataType,
      shape,
    });
    const inputs = [
      cache("float32", "batch_size", 2, "past_sequence_length", 8),
      cache("float16", 2, "", 4, "", 8),
      { name: "use_cache_branch", dataType: "bool", shape: [1] } as const,
    ];
    expect(encoderInputs(inputs, batch)).toEqual({
      "past_key_values.4.key": { dataType: "float32", shape: [2, 2, 0, 8], data: new Float32Array() },
      "past_key_values.5.key": { dataType: "float16", shape: [2, 2, 4, 0, 8], data: new Uint16Array() },
      use_cache_branch: { dataType: "bool", shape: [1], data: Uint8Array.of(0) },
    });
  });

  it("gives what the model takes and nothing else", () => {
    expect(Object.keys(encoderInputs([input("attention_mask")], batch))).toEqual(["attention_mask"]);
  });

  it.each([
    ["pixel_values", "float32"],
    ["input_ids", "float32"],
    ["toString", "int64"],
  ] as const)("an input it cannot fill is refused by name: %s (%s)", (name, dataType) => {
    const refused = (): unknown => encoderInputs([input(name, dataType)], batch);
    expect(refused).toThrow(InferyardError);
    expect(refused).toThrow(`"${name}" (${dataType}) is not an input of a text encoder`);
  });
});
