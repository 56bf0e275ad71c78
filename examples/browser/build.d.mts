import type { Metafile } from "esbuild";

export function buildPage(folder: string, program?: string): Promise<Metafile>;
