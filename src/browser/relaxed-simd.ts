/** Stands for src/engine/relaxed-simd.ts: a page cannot switch on what its browser has not. */
export function switchOnRelaxedSimd(): void {}
