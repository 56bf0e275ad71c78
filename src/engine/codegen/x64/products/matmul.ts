/**
 * Linear layers as machine code: what the WebAssembly kernel `matmul` computes for a request with panels of 16 columns, and where that fuses multiplication and
 * addition the same bits. The outer loop runs over groups of panels, which stay in the L2 cache, the inner one over tiles of rows.
 */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { type MatmulRequest, matmul, matmulTiling } from "../../wasm/kernels/matmul/matmul.ts";
import { widePanelColumns } from "../../wasm/kernels/matmul/weight-packing.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import { FloatCode } from "../float-code.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { type VectorTarget, openAssembler, vectorTarget } from "../vector-target.ts";
import { emitFloatTile } from "./float-tile.ts";
import { ProductLoops, type ProductShape, type TileGenerator, knownRows, productArguments } from "./product-loops.ts";
import { TileColumns, emitStoreTile } from "./store-tile.ts";

const panelRowBytes = widePanelColumns * floatBytes;

/** The machine code for a product; undefined for weights in panels that vectors of this width do not fill. */
export function machineMatmul(request: MatmulRequest, level: X64Level): MachineFunction | undefined {
  if (request.panelColumns !== widePanelColumns) return undefined;
  const target = vectorTarget(level);
  const shape = productShape(request, target);
  const { asm, vectors } = openAssembler(target);
  const code = new FloatCode(asm, vectors);
  return {
    ...new ProductLoops(asm, shape, tileGenerator(code, request, target)).emit(),
    arguments: productArguments(matmul(request), shape),
  };
}

/** Tiles whose sums, columns and factors fill the registers. For few rows more panels give enough independent sums. */
function productShape(request: MatmulRequest, { registers }: VectorTarget): ProductShape {
  const { m, n, k } = request;
  const tiling = matmulTiling(request);
  const known = knownRows(m, tiling);
  const isWide = registers === 32;
  const [tileRows, most] = isWide ? [8, 3] : [6, 1];
  const few = isWide ? { 1: 8, 2: 6, 3: 5 } : { 1: 5, 2: 3, 3: 2 };
  const panels = known === 1 || known === 2 || known === 3 ? few[known] : most;
  return {
    m,
    n,
    tiling,
    aRowBytes: k * floatBytes,
    panelBytes: k * panelRowBytes,
    groups: panels > 1 ? [panels, 1] : [1],
    tileRows: known ?? tileRows,
  };
}

function tileGenerator(
  code: FloatCode,
  { n, k, bias = false, activation = "none", residual = "none" }: MatmulRequest,
  { lanes }: VectorTarget,
): TileGenerator {
  const { asm } = code;
  const panelVectors = widePanelColumns / lanes;
  return (place) => {
    const columns = new TileColumns(code, place.columns);
    return {
      prepare: () => columns.prepare("rax"),
      tile: (rows) =>
        emitFloatTile(
          code,
          {
            rows,
            vectors: columns.vectors,
            depth: k,
            a: "rdi",
            b: "rsi",
            aNext: "rax",
            bNext: "rbx",
            counter: "r10",
            aRowBytes: k * floatBytes,
            aDepthBytes: floatBytes,
            bDepthBytes: panelRowBytes,
            bVectorBytes: (vector) =>
              Math.floor(vector / panelVectors) * k * panelRowBytes + (vector % panelVectors) * lanes * floatBytes,
            start: (to, _row, vector) => {
              if (bias) columns.load(to, vector, { base: "rcx", displacement: vector * lanes * floatBytes });
              else asm.clear(to);
            },
          },
          (sums) =>
            emitStoreTile(code, {
              sums,
              columns,
              activation,
              residual,
              c: "rdx",
              residualAt: "r8",
              free: ["r10", "rax", "rbx"],
              rowBytes: n * floatBytes,
            }),
        ),
    };
  };
}
