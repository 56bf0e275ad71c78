/**
 * Convolutions in float32 whose lanes are output channels, over weights packed in panels (`channel-panels.ts`): a tile has some neighbouring output positions, each of one
 * or two vectors of channels, and multiplies vectors of weights by single inputs, which are read where they are for any stride. Inputs with pads are copied to scratch memory first,
 * some rows at a time. A block of channels is computed for all positions of these rows, so that its weights stay in the cache. Sums begin with the bias and run over
 * [channels, height, width] of the window in order, fused, so that results are the bits of WebAssembly's.
 */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { panelChannels } from "../../wasm/kernels/convolution/channel-panels.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory } from "../assembler/operands.ts";
import { FunctionFrame } from "../functions/function-frame.ts";
import { VectorUnit } from "../functions/vector-unit.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { type ChannelLanesLoops, ChannelTile, type TileSize, panelRowBytes } from "./channel-tile.ts";
import { emitNextImage } from "./next-image.ts";
import { PaddedRows } from "./padded-rows.ts";
import { emitStoredActivation } from "./stored-activation.ts";

/** Larger windows and planes are left to WebAssembly: code is written out for a row of the window, and distances between channels are immediates. */
const maxWindowColumns = 64;
const maxPlaneBytes = 2 ** 25;
const maxScratchBytes = 2 ** 28;
/** Vectors of channels of a block. */
const maxVectors = 2;
/** Bytes of scratch memory. */
export function channelLanesScratchBytes({ window, channels }: Pick<ChannelLanesLoops, "window" | "channels">): number {
  return new PaddedRows(window, channels).scratchBytes;
}

/** Whether there is machine code for this convolution. */
export function hasChannelLanes(loops: Pick<ChannelLanesLoops, "window" | "channels" | "outputs">): boolean {
  const { window, outputs, channels } = loops;
  const planeBytes = Math.max(window.input[0] * window.input[1], window.output[0] * window.output[1]) * floatBytes;
  if (window.size[1] > maxWindowColumns || planeBytes > maxPlaneBytes || channels * outputs * planeBytes === 0) return false;
  const weightBytes = channels * window.size[0] * window.size[1] * panelRowBytes;
  return weightBytes < maxScratchBytes && channelLanesScratchBytes(loops) < maxScratchBytes;
}

/**
 * Generates the function of a convolution: arguments x, weights, bias if there is one, y, scratch, first piece, end of the pieces. A piece is a row of the outputs of an
 * image and group. Undefined where WebAssembly computes it.
 */
export function machineChannelLanes(loops: ChannelLanesLoops, level: X64Level): MachineFunction | undefined {
  return hasChannelLanes(loops) ? new ChannelLanesFunction(loops, level).emit() : undefined;
}

/**
 * Registers between strips (the rows that are computed at once): rbx pieces that are left, r12 output row, r13 input image, r14 output image, r15 group. In the loops over tiles:
 * rdi weights of the block, rcx its bias, rsi input and rdx output of the tile, rax tiles that are left in the row.
 */
class ChannelLanesFunction {
  readonly #unit: VectorUnit;
  readonly #frame: FunctionFrame;
  readonly #loops: ChannelLanesLoops;
  readonly #rows: PaddedRows;
  readonly #depth: number;
  readonly #tile: ChannelTile;
  readonly #outPlane: number;
  readonly #slots: Readonly<Record<"stripRows" | "rowsLeft" | "blocksLeft" | "input" | "rowInput" | "output", Memory>>;

  constructor(loops: ChannelLanesLoops, level: X64Level) {
    this.#loops = loops;
    this.#unit = new VectorUnit(level);
    this.#frame = new FunctionFrame(this.#unit.asm);
    const { window, channels } = loops;
    this.#rows = new PaddedRows(window, channels);
    this.#tile = new ChannelTile(this.#unit, loops, this.#rows);
    this.#depth = channels * window.size[0] * window.size[1];
    this.#outPlane = window.output[0] * window.output[1] * floatBytes;
    const slot = (): Memory => this.#frame.reserve();
    this.#slots = {
      stripRows: slot(),
      rowsLeft: slot(),
      blocksLeft: slot(),
      input: slot(),
      rowInput: slot(),
      output: slot(),
    };
  }

  #argument(name: "x" | "weights" | "bias" | "y" | "scratch" | "from" | "to"): Memory {
    const names = ["x", "weights", ...(this.#loops.bias ? ["bias"] : []), "y", "scratch", "from", "to"];
    return this.#frame.argument(names.indexOf(name));
  }

  emit(): MachineFunction {
    const { asm } = this.#unit;
    const { window } = this.#loops;
    const [end, start] = [asm.label(), asm.label()];
    this.#frame.enter();
    asm.load("rbx", this.#argument("to"));
    asm.integer("sub", "rbx", this.#argument("from"));
    asm.jump(end, "le");
    this.#emitFirstPosition();
    asm.bind(start);
    asm.loadImmediate("rax", window.output[0]);
    asm.integer("sub", "rax", "r12");
    asm.integer("cmp", "rax", "rbx");
    asm.moveIf("a", "rax", "rbx");
    asm.loadImmediate("rcx", this.#rows.stripRows);
    asm.integer("cmp", "rax", "rcx");
    asm.moveIf("a", "rax", "rcx");
    asm.store(this.#slots.stripRows, "rax");
    this.#emitStrip();
    this.#emitNextStrip(start);
    asm.bind(end);
    this.#frame.leave();
    return asm.machineFunction;
  }

  #emitFirstPosition(): void {
    const { asm } = this.#unit;
    asm.load("rax", this.#argument("from"));
    asm.load("r13", this.#argument("x"));
    asm.load("r14", this.#argument("y"));
    asm.loadImmediate("r15", 0);
    const [start, found] = [asm.here(), asm.label()];
    asm.integer("cmp", "rax", this.#loops.window.output[0]);
    asm.jump(found, "b");
    asm.integer("sub", "rax", this.#loops.window.output[0]);
    emitNextImage(this.#unit.asm, this.#loops, this.#outPlane);
    asm.jump(start);
    asm.bind(found);
    asm.move("r12", "rax");
  }

  #emitNextStrip(start: ReturnType<VectorUnit["asm"]["label"]>): void {
    const { asm } = this.#unit;
    const same = asm.label();
    asm.load("rax", this.#slots.stripRows);
    asm.integer("sub", "rbx", "rax");
    asm.add("r12", "rax");
    asm.integer("cmp", "r12", this.#loops.window.output[0]);
    asm.jump(same, "b");
    asm.loadImmediate("r12", 0);
    emitNextImage(this.#unit.asm, this.#loops, this.#outPlane);
    asm.bind(same);
    asm.integer("cmp", "rbx", 0);
    asm.jump(start, "ne");
  }

  /** Generates the code of a strip: its padded input rows, then one block of channels after the other. */
  #emitStrip(): void {
    const { asm, lanes } = this.#unit;
    const { window, outputs, bias } = this.#loops;
    if (this.#rows.scratchBytes > 0) {
      asm.load("rdi", this.#argument("scratch"));
      asm.load("rax", this.#slots.stripRows);
      this.#rows.emitCopy(this.#unit);
      asm.load("rax", this.#argument("scratch"));
    } else {
      asm.multiply("rax", "r12", window.strides[0] * window.input[1] * floatBytes);
      asm.add("rax", "r13");
    }
    asm.store(this.#slots.input, "rax");
    asm.multiply("rax", "r12", window.output[1] * floatBytes);
    asm.add("rax", "r14");
    asm.store(this.#slots.output, "rax");
    asm.load("rdi", this.#argument("weights"));
    asm.multiply("rax", "r15", Math.ceil(outputs / panelChannels) * this.#depth * panelRowBytes);
    asm.add("rdi", "rax");
    if (bias) {
      asm.multiply("rcx", "r15", outputs * floatBytes);
      asm.integer("add", "rcx", this.#argument("bias"));
    }
    const blockChannels = Math.max(panelChannels, lanes * maxVectors);
    const whole = Math.floor(outputs / blockChannels);
    if (whole > 0) {
      asm.loadImmediate("rax", whole);
      asm.store(this.#slots.blocksLeft, "rax");
      const start = asm.here();
      this.#emitBlock(blockChannels);
      asm.add("rdi", (blockChannels / panelChannels) * this.#depth * panelRowBytes);
      if (bias) asm.add("rcx", blockChannels * floatBytes);
      asm.load("rax", this.#slots.output);
      asm.add("rax", blockChannels * this.#outPlane);
      asm.store(this.#slots.output, "rax");
      asm.load("rax", this.#slots.blocksLeft);
      asm.integer("sub", "rax", 1);
      asm.store(this.#slots.blocksLeft, "rax");
      asm.jump(start, "ne");
    }
    if (outputs % blockChannels > 0) this.#emitBlock(outputs % blockChannels);
  }

  /** Generates the loops over the rows and tiles of a block of channels. */
  #emitBlock(channels: number): void {
    const { asm } = this.#unit;
    const width = this.#loops.window.output[1];
    const most = this.#tile.maxPositions(channels);
    this.#tile.emitChannelMask(channels);
    asm.load("rax", this.#slots.stripRows);
    asm.store(this.#slots.rowsLeft, "rax");
    asm.load("rax", this.#slots.input);
    asm.store(this.#slots.rowInput, "rax");
    asm.load("rdx", this.#slots.output);
    const rowTiles = Math.floor(most / width);
    if (rowTiles > 1) this.#emitRows({ rows: rowTiles, columns: width, channels });
    this.#emitRows({ rows: 1, columns: Math.ceil(width / Math.ceil(width / most)), channels });
    const { activation } = this.#loops;
    if (activation === "none" || activation === "relu") return;
    asm.load("rdx", this.#slots.output);
    asm.load("rax", this.#slots.stripRows);
    asm.multiply("rax", "rax", width);
    emitStoredActivation(this.#unit, activation, { channels, planeBytes: this.#outPlane });
  }

  /** Generates the loop over as many groups of `tile.rows` rows as are left. rdx: output of the first. */
  #emitRows({ rows, columns, channels }: TileSize): void {
    const { asm } = this.#unit;
    const { window } = this.#loops;
    const width = window.output[1];
    const [start, end] = [asm.label(), asm.label()];
    asm.bind(start);
    asm.load("rax", this.#slots.rowsLeft);
    asm.integer("sub", "rax", rows);
    asm.jump(end, "b");
    asm.store(this.#slots.rowsLeft, "rax");
    asm.load("rsi", this.#slots.rowInput);
    if (rows > 1 || columns === width) {
      this.#tile.emitPositionMask(rows * columns);
      this.#tile.emit({ rows, columns, channels });
      asm.add("rdx", rows * width * floatBytes);
    } else {
      const tiles = Math.ceil(width / columns);
      const narrow = tiles * columns - width; // tiles of one column less
      for (const [count, size] of [
        [tiles - narrow, columns],
        [narrow, columns - 1],
      ] as const) {
        if (count === 0) continue;
        this.#tile.emitPositionMask(size);
        asm.loadImmediate("rax", count);
        asm.countDown("rax", () => {
          this.#tile.emit({ rows, columns: size, channels });
          asm.add("rsi", size * window.strides[1] * floatBytes);
          asm.add("rdx", size * floatBytes);
        });
      }
    }
    asm.load("rax", this.#slots.rowInput);
    asm.add("rax", rows * window.strides[0] * this.#rows.rowBytes);
    asm.store(this.#slots.rowInput, "rax");
    asm.jump(start);
    asm.bind(end);
  }
}
