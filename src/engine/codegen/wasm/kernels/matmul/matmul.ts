/** Linear layers: C = activation(alpha * A B + bias) + residual with constant, packed B. */
import type { Activation } from "../../../../ir/operations.ts";
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount, vectorBytes } from "../loops/lanes.ts";
import { emitMicroKernel, tileColumns } from "./micro-kernel.ts";
import { emitTiles, getTilePieces, tilingFor, rowSpecialization, type TilePosition, type Tiling } from "./tiling.ts";
import { emitGemv, gemvPieces, type GemvPanel } from "./gemv.ts";
import { type Epilogue, storeTile } from "./epilogue.ts";
import { type PanelColumns, widePanelColumns } from "./weight-packing.ts";

/** Shapes and fused operations of one matrix product with constant weights. */
export interface MatmulRequest {
  /** Rows of A and C. A is [m, k] and C is [m, n], both row-major; B is [k, n] packed by `packMatmulWeights`. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Whether a vector of n elements is added. */
  readonly bias?: boolean;
  readonly activation?: Activation;
  /** Columns of a panel of B: 16 for machine code, whose vectors are wider; see `packMatmulWeights`. Default: 8. */
  readonly panelColumns?: PanelColumns;
  /** Adds a matrix shaped like C. It may be C itself unless it is added after an activation other than none and relu. */
  readonly residual?: Epilogue["residual"];
}

const multiplyAddsPerNanosecond = 25;
/** Panels of the widest tile of machine code, by the number of rows; the last for more rows. */
const tilePanels = [8, 6, 5, 3] as const;
/**
 * Up to this many rows the product waits for the memory that holds B. Tiles of 2 rows then take two panels: the first tile reads both at the speed of one
 * row, and the other tiles find them in the cache.
 */
const maxMemoryBoundRows = 16;

/** Rows of a tile of 16 columns, which fills the registers that V8 uses as well as one of 4 rows and 8 columns. */
const wideTileRows = 2;

/** How a product is divided into pieces and tiles. */
export function matmulTiling({ m, n, k, panelColumns = tileColumns }: MatmulRequest): Tiling {
  if (panelColumns === widePanelColumns) return tilingFor(m, n, k * floatBytes, 1, wideTileRows, panelColumns);
  return m <= maxMemoryBoundRows && m > 1 ? tilingFor(m, n, k * floatBytes, 2, 2) : tilingFor(m, n, k * floatBytes);
}

/**
 * Generates the kernel of a matrix product with packed constant weights and a fused epilogue. Parameters: a, b, then bias and residual if requested,
 * then c. One piece (unit of parallel work) is a panel of columns (a pair of panels of 8 for one row), or a block of rows where m is large.
 */
export function matmul(request: MatmulRequest): Kernel {
  const { m, n, k, bias = false, activation = "none", residual = "none" } = request;
  const loops = matmulTiling(request);
  const { panelColumns } = loops;
  const isRow = m === 1 && panelColumns === tileColumns;
  const { rowsPerTile } = loops;
  const pieces = isRow ? gemvPieces(n) : loops.pieces;
  const [aRowBytes, cRowBytes] = [k * floatBytes, n * floatBytes];
  return defineKernel({
    family: "matmul",
    request: {
      rows: rowSpecialization(loops),
      n,
      k,
      bias,
      activation,
      residual,
      ...(panelColumns === tileColumns ? {} : { panelColumns }),
    },
    dynamicSizes: { rowBlocks: Math.floor(m / rowsPerTile) },
    inputs: ["a", "b"],
    optional: { bias, residual: residual !== "none" },
    outputs: ["c"],
    pieces,
    pieceNanoseconds: (m * n * k) / pieces / multiplyAddsPerNanosecond + 1,
    tilePieces: isRow ? 1 : getTilePieces(loops, tilePanels[m - 1] ?? tilePanels[3]),
    machine: { request },
    emit(f, { a, b, c, bias: biasAt, residual: residualAt }, from, to, { rowBlocks }) {
      /** The initial sums of a tile, and where it is stored. */
      const tileAt = ({ rowBlock, panel, columns }: Omit<TilePosition, "rows">): GemvPanel => {
        const onC = (base: I32): Local<"i32"> =>
          f.value(offsetBy(offsetBy(base, panel, panelColumns * floatBytes), rowBlock, rowsPerTile * cRowBytes));
        const vectors = Math.ceil(columns / laneCount);
        const biases = biasAt && loadVectors(f, f.value(offsetBy(biasAt, panel, panelColumns * floatBytes)), vectors);
        return {
          vectors,
          start: (vector) => biases?.[vector] ?? v128.zero,
          store: (sums) =>
            storeTile(
              f,
              { activation, residual },
              {
                sums,
                columns,
                c: onC(c),
                cRowBytes,
                residual: residualAt && onC(residualAt),
                residualRowBytes: cRowBytes,
                finish: (sum) => sum,
              },
            ),
        };
      };
      if (isRow) {
        emitGemv(f, { n, depth: k, a, b, pieces: { from, to } }, (panel, columns) =>
          tileAt({ rowBlock: i32.const(0), panel, columns }),
        );
        return;
      }
      emitTiles(f, { ...loops, rowBlocks }, { from, to }, (place) => {
        const { vectors, start, store } = tileAt(place);
        const sums = emitMicroKernel(f, {
          rows: place.rows,
          vectors,
          depth: k,
          a: offsetBy(a, place.rowBlock, rowsPerTile * aRowBytes),
          b: offsetBy(b, place.panel, k * panelColumns * floatBytes),
          aRowBytes,
          aDepthBytes: floatBytes,
          bDepthBytes: panelColumns * floatBytes,
          bVectorBytes: (vector) => {
            const panelVectors = panelColumns / laneCount;
            return Math.floor(vector / panelVectors) * k * panelColumns * floatBytes + (vector % panelVectors) * vectorBytes;
          },
          start: (_row, vector) => start(vector),
        });
        store(sums);
      });
    },
  });
}

function loadVectors(f: FunctionBuilder, address: I32, vectors: number): Local<"v128">[] {
  return indices(vectors).map((vector) => f.value(v128.load(address, vector * 16)));
}
