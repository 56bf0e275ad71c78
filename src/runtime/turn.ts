/** Whose work a call is, where calls take turns. */

/** "high" goes before "normal" wherever both wait. */
export type Priority = "high" | "normal";

export interface Turn {
  /** Tells clients apart, so that each gets its turn. */
  readonly client: string;
  readonly priority: Priority;
}

/** Of a call that says nothing. */
export const anyTurn: Turn = { client: "", priority: "normal" };
