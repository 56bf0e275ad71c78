/** Types of mirage-programs.mjs, for tests. */
import type { Program } from "inferyard/program";

type Sizes = Readonly<Record<string, number>>;

export declare const miragePrograms: Readonly<Record<string, (sizes: Sizes) => Program>>;

export declare function mirageTensors(
  infos: readonly { readonly name: string; readonly shape: readonly (number | string)[] }[],
  first: number,
  scale?: number,
): Record<string, Float32Array>;
