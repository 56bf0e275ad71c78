import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { integer, message, model, node, value } from "../../../test/fixtures/models/onnx-bytes.ts";
import { toByteSource, type ByteSource } from "../../formats/byte-source.ts";
import { readOnnxModel } from "./read-model.ts";

const typeNumbers = { float32: 1, uint4: 21 } as const;

/** A tensor whose bytes tell from where they are. */
function tensor(name: string, bytes: number, type: keyof typeof typeNumbers, rawFirst: boolean): Buffer {
  const raw = message(9, Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => (index * 7 + index / 256) & 127)));
  const rest = [integer(1, type === "uint4" ? bytes * 2 : bytes / 4), integer(2, typeNumbers[type]), message(8, name)];
  return message(5, ...(rawFirst ? [raw, ...rest] : [...rest, raw]));
}

const tensors = fc.array(
  fc.record({
    kilobytes: fc.integer({ min: 0, max: 40 }),
    type: fc.constantFrom("float32" as const, "uint4" as const),
    rawFirst: fc.boolean(),
  }),
  { maxLength: 6 },
);

function file(parts: typeof tensors extends fc.Arbitrary<infer Parts> ? Parts : never): Buffer {
  const initializers = parts.map((part, index) => tensor(`w${index}`, part.kilobytes * 1024, part.type, part.rawFirst));
  const between = parts.map((_, index) => node({ operator: "Identity", inputs: [`w${index}`], outputs: [`y${index}`] }));
  const graph = [value(11, "x", 1, [1]), ...initializers.flatMap((each, index) => [each, between[index]!]), value(12, "x")];
  return model({ opsets: { "": 17 }, graph });
}

describe("a model whose large elements stay in their file", () => {
  it("reads as one that was read whole", () => {
    fc.assert(
      fc.property(tensors, (parts) => {
        const bytes = file(parts);
        const [pieces, whole] = [readOnnxModel(toByteSource(bytes), "pieces").model, readOnnxModel(bytes, "whole").model];
        expect(pieces.graph.nodes).toEqual(whole.graph.nodes);
        expect([...pieces.graph.initializers.keys()]).toEqual([...whole.graph.initializers.keys()]);
        for (const [name, { dataType, shape, data }] of whole.graph.initializers) {
          const own = pieces.graph.initializers.get(name)!;
          expect([own.dataType, own.shape]).toEqual([dataType, shape]);
          expect(Buffer.compare(Buffer.from(own.data as Uint8Array), Buffer.from(data as Uint8Array))).toBe(0);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("takes no memory for them until somebody asks, and not from the file once they are kept", () => {
    const bytes = file([{ kilobytes: 4000, type: "float32", rawFirst: false }]);
    let isOpen = true;
    let most = 0;
    const memory = toByteSource(bytes);
    const source: ByteSource = {
      size: bytes.length,
      read(target, position) {
        if (!isOpen) throw new Error("it is closed");
        most = Math.max(most, target.length);
        memory.read(target, position);
      },
    };
    const { model: read, loadRemaining } = readOnnxModel(source, "a model");
    expect(most).toBeLessThan(20_000);
    loadRemaining();
    isOpen = false;
    expect(read.graph.initializers.get("w0")!.data).toHaveLength(1_024_000);
  });

  it("is refused wherever it is cut off, as one that was read whole", () => {
    const bytes = file([
      { kilobytes: 20, type: "float32", rawFirst: false },
      { kilobytes: 17, type: "uint4", rawFirst: true },
    ]);
    const problem = (source: Uint8Array | ByteSource): unknown => {
      try {
        readOnnxModel(source, "it");
        return undefined;
      } catch (error) {
        return [(error as { code: string }).code, (error as Error).message];
      }
    };
    for (let length = 0; length < bytes.length; length += length < 300 ? 1 : 397) {
      const cut = bytes.subarray(0, length);
      expect(problem(toByteSource(cut)), `${length} bytes`).toEqual(problem(cut));
      expect(problem(cut)).toEqual(["MODEL_INVALID", expect.stringContaining("it is not a whole ONNX file")]);
    }
  });
});
