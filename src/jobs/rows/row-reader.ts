/** The contract of readers of inputs. */
import type { InputPosition } from "../store/job.ts";

/** A row as it was read. */
export interface ReadRow {
  /** Number of the row, from 1; of JSONL the number of its line. */
  readonly number: number;
  /** Its size in the input, in bytes; an estimate where the format has none. */
  readonly bytes: number;
  /** Where the next row begins. */
  readonly position: InputPosition;
  /** Part of the input that ends with this row, from 0 to 1. Absent: as the offset of `position` in bytes says. */
  readonly part?: number;
  /** The value of the row. Absent if it cannot be read. */
  readonly value?: unknown;
  /** Why it cannot be read. */
  readonly problem?: string;
  /** The beginning of a row that cannot be read. */
  readonly text?: string;
}

/** Reads the rows of an input in order. */
export interface RowReader {
  /** The rows from a position on, in groups. Throws INPUT_INVALID if the file as a whole cannot be read. */
  read(position: InputPosition): AsyncIterable<readonly ReadRow[]>;
}
