/** Inference requests of the Open Inference Protocol with the binary tensor data extension, on the built-in model. */
import { mutateBytes } from "../mutations/mutate-bytes.ts";
import { type Json, mutateJson, parsed } from "../mutations/mutate-json.ts";
import { openServer } from "../server-handler.ts";
import type { FuzzTarget, Mutation } from "../target.ts";

/** An input: bytes of the head as u16, the head, then the data of the tensors. The path is a field of the head. */
const lengthBytes = 2;

const datatypes = [
  "BOOL",
  "UINT8",
  "UINT16",
  "UINT32",
  "UINT64",
  "INT8",
  "INT16",
  "INT32",
  "INT64",
  "FP16",
  "BF16",
  "FP32",
  "FP64",
  "BYTES",
];

export const kserve: FuzzTarget = {
  codes: [],
  seeds: () => {
    const text = Buffer.from([1, 0, 0, 0, 0x61, 2, 0, 0, 0, 0x62, 0x63]);
    const input = (name: string, datatype: string, shape: number[], size: number): Json => {
      return { name, datatype, shape, parameters: { binary_data_size: size } };
    };
    const outputs = [{ name: "embedding", parameters: { binary_data: true } }];
    return [
      packed(
        { id: "1", inputs: [input("text", "BYTES", [2], text.length)], outputs, parameters: { binary_data_output: true } },
        text,
      ),
      packed({ inputs: [{ name: "text", datatype: "BYTES", shape: [1], data: ["a"] }] }, new Uint8Array(0)),
      ...datatypes.map((type) => packed({ inputs: [input("input_ids", type, [1, 2], 8)] }, new Uint8Array(8))),
      packed({ inputs: [input("input_ids", "INT64", [2], 16), input("offsets", "INT64", [1], 8)] }, new Uint8Array(24)),
    ];
  },
  mutate: mutateRequest,
  maxBytes: 16_384,
  dictionary: [
    ...datatypes,

    "inputs",
    "outputs",
    "parameters",
    "binary_data_size",
    "binary_data",
    "binary_data_output",
    "text",
    "embedding",
    "input_ids",
    "offsets",
  ],
  open: async () => {
    const server = await openServer();
    return {
      run: async (input) => {
        const parts = unpacked(input);
        if (parts === undefined) return;
        const headers = {
          "content-type": "application/octet-stream",
          "inference-header-content-length": String(parts.head.length),
        };
        const body = Buffer.concat([parts.head, parts.data]);
        await server.ask(new Request("http://localhost/v2/models/builtin/infer", { method: "POST", headers, body }));
      },
      close: server.close,
    };
  },
};

function mutateRequest(input: Uint8Array, mutation: Mutation): Uint8Array {
  const parts = unpacked(input);
  const head = parts === undefined ? undefined : parsed(parts.head);
  if (parts === undefined || head === undefined) return mutateBytes(input, mutation);
  const other = unpacked(mutation.other);
  const data = mutation.random.oneIn(2) ? mutateBytes(parts.data, { ...mutation, dictionary: [] }) : parts.data;
  return packed(mutateJson(head, { ...mutation, other: (other && parsed(other.head)) ?? null }), data);
}

function packed(head: Json, data: Uint8Array): Uint8Array {
  const text = Buffer.from(JSON.stringify(head)).subarray(0, 65_535);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16LE(text.length);
  return Buffer.concat([length, text, data]);
}

function unpacked(bytes: Uint8Array): { head: Uint8Array; data: Uint8Array } | undefined {
  if (bytes.length < lengthBytes) return undefined;
  const end = lengthBytes + Buffer.from(bytes).readUInt16LE(0);
  return end > bytes.length ? undefined : { head: bytes.subarray(lengthBytes, end), data: bytes.subarray(end) };
}
