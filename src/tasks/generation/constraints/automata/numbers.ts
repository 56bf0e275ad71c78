/** Numbers of JSON within bounds. */
import { chargeSteps } from "../constraint-budget.ts";
import { type Dfa, explore, intersection } from "./automaton.ts";
import { getClasses } from "./byte-classes.ts";
import { type Decimal, decimalDigits } from "./decimals.ts";
import { regularExpressionDfa } from "./regular-expression.ts";

/** Which numbers fit. */
export interface NumberRange {
  readonly isInteger: boolean;
  readonly minimum?: Decimal;
  readonly exclusiveMinimum?: Decimal;
  readonly maximum?: Decimal;
  readonly exclusiveMaximum?: Decimal;
  readonly multipleOf: readonly Decimal[];
}

/** Steps of any automaton of numbers, beside its transitions. */
const numberSteps = 3000;
/** Digits of numbers at most, so that a model does not go on for ever: all that a double is written with. */
const wholeDigits = 21;
const fractionDigits = 24;
/** Digits of multiples at most: they are exact as doubles, with which validators compute. */
const exactDigits = 15;
/** With the digits above, the number stays finite as a double. */
const exponent = "(?:[eE][+-]?(?:[0-9]{1,2}|1[0-9]{2}|2[0-7][0-9]))?";
const classes: Uint8Array = getClasses(
  Array.from("-.0123456789", (character) => [character.charCodeAt(0), character.charCodeAt(0)] as const),
);

/** Automaton of the numbers. Where they are bounded on a side other than by 0, or must be multiples, they are written without an exponent. */
export function numberDfa(range: NumberRange): Dfa {
  const { isInteger, minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = range;
  const bounds = [
    ...(minimum === undefined ? [] : [{ bound: minimum, accepted: [0, 1] }]),
    ...(exclusiveMinimum === undefined ? [] : [{ bound: exclusiveMinimum, accepted: [1] }]),
    ...(maximum === undefined ? [] : [{ bound: maximum, accepted: [-1, 0] }]),
    ...(exclusiveMaximum === undefined ? [] : [{ bound: exclusiveMaximum, accepted: [-1] }]),
  ];
  chargeSteps(numberSteps);
  const isPlain = bounds.every(({ bound, accepted }) => bound === "0" && accepted.length === 2) && multipleOf.length === 0;
  const written = bounds.map(({ bound }) => decimalDigits(bound));
  const whole = Math.max(multipleOf.length > 0 ? exactDigits : wholeDigits, ...written.map((digits) => digits.whole.length));
  const fraction = Math.max(fractionDigits, ...written.map((digits) => digits.fraction.length));
  const integer = `-?(?:0|[1-9][0-9]{0,${whole - 1}})`;
  const decimal = String.raw`${integer}(?:\.[0-9]{1,${fraction}})?`;
  if (isPlain) return signed(isInteger ? integer : `${decimal}${exponent}`, range);
  return intersection(
    syntaxDfa(isInteger ? integer : decimal),
    ...bounds.map(({ bound, accepted }) => comparisonDfa(bound, accepted)),
    ...multipleOf.map((factor) => multipleDfa(factor)),
  );
}

/** Syntaxes by their expression: there are few, by the digits that bounds have. */
const syntaxes = new Map<string, Dfa>();
const maxSyntaxes = 64;

function syntaxDfa(expression: string): Dfa {
  const dfa = syntaxes.get(expression) ?? regularExpressionDfa(expression, { whole: true });
  if (syntaxes.size < maxSyntaxes) syntaxes.set(expression, dfa);
  return dfa;
}

/** The syntax with the sign that bounds of 0 allow. */
function signed(syntax: string, { minimum, maximum }: NumberRange): Dfa {
  const zero = String.raw`-?0(?:\.0+)?`;
  const unsigned = syntax.slice(2);
  if (minimum !== undefined && maximum !== undefined) return regularExpressionDfa(zero, { whole: true });
  if (minimum !== undefined) return regularExpressionDfa(`${unsigned}|${zero}`, { whole: true });
  return regularExpressionDfa(maximum === undefined ? syntax : `-${unsigned}|${zero}`, { whole: true });
}

interface Comparison {
  readonly isNegative: boolean;
  /** Digits of the whole part, or of the fraction, that were read; "greater" numbers have more digits than the bound. */
  readonly place: number;
  readonly isFraction: boolean;
  /** Of the digits so far with those of the bound: -1, 0 or 1. */
  readonly order: number;
  /** Whether no digit that follows changes the order. */
  readonly isDecided: boolean;
  readonly isEmpty: boolean;
}

/** Texts of numbers without an exponent whose comparison with `bound` gives one of `accepted`: -1, 0, 1. */
function comparisonDfa(bound: Decimal, accepted: readonly number[]): Dfa {
  const { whole, fraction } = decimalDigits(bound);
  const isBoundNegative = bound.startsWith("-");
  const getOrder = ({ isNegative, place, isFraction, order, isDecided }: Comparison): number => {
    const isShorter = !isDecided && !isFraction && place < whole.length;
    const rest = isFraction ? fraction.slice(place) : fraction;
    const magnitude = isShorter ? -1 : order !== 0 || isDecided ? order : /[1-9]/.test(rest) ? -1 : 0;
    if (isNegative) {
      if (isBoundNegative) return -magnitude;
      return bound === "0" && magnitude === 0 ? 0 : -1;
    }
    return isBoundNegative ? 1 : magnitude;
  };
  return explore<Comparison>({
    start: { isNegative: false, place: 0, isFraction: false, order: 0, isDecided: false, isEmpty: true },
    key: ({ place, order, isNegative, isFraction, isDecided, isEmpty }) =>
      (place * 3 + order + 1) * 16 + flags(isNegative, isFraction, isDecided, isEmpty),
    classes,
    accepts: (state) => !state.isEmpty && accepted.includes(getOrder(state)),
    step(state, byte) {
      const character = String.fromCharCode(byte);
      if (character === "-") return state.isEmpty && !state.isNegative ? { ...state, isNegative: true } : undefined;
      if (character === ".") {
        if (state.isFraction || state.isEmpty) return undefined;
        if (state.isDecided) return { ...state, isFraction: true, place: 0 };
        if (state.place < whole.length) return { ...state, isFraction: true, place: 0, order: -1, isDecided: true };
        return { ...state, isFraction: true, place: 0, isDecided: state.order !== 0 };
      }
      if (character < "0" || character > "9") return undefined;
      return stepDigit(state, Number(character));
    },
  });

  function flags(...values: readonly boolean[]): number {
    return values.reduce((bits, value) => 2 * bits + (value ? 1 : 0), 0);
  }

  function stepDigit(state: Comparison, digit: number): Comparison {
    const next = { ...state, isEmpty: false };
    if (state.isDecided) return { ...next, place: 0 };
    if (!state.isFraction && state.place >= whole.length) return { ...next, place: 0, order: 1, isDecided: true };
    const other = Number((state.isFraction ? fraction : whole)[state.place] ?? 0);
    const order = state.order === 0 ? Math.sign(digit - other) : state.order;
    if (!state.isFraction) return { ...next, place: state.place + 1, order };
    return { ...next, place: Math.min(state.place + 1, fraction.length), order, isDecided: order !== 0 };
  }
}

/** Remainders below this have a number as the key of their state, which is exact for factors of up to 300 digits after the point. */
const maxNumberKey = 2 ** 42;

interface Remainder {
  readonly remainder: number;
  readonly fractionDigits: number;
  readonly isFraction: boolean;
  readonly isEmpty: boolean;
}

/** Texts of numbers without an exponent that are multiples of a positive number. */
function multipleDfa(factor: Decimal): Dfa {
  const { whole, fraction } = decimalDigits(factor);
  const scale = fraction.length;
  const divisor = Number(whole + fraction);
  // Digits that are missing after the point are zeros.
  const complete = ({ remainder, fractionDigits }: Remainder): number => (remainder * 10 ** (scale - fractionDigits)) % divisor;
  return explore<Remainder>({
    start: { remainder: 0, fractionDigits: 0, isFraction: false, isEmpty: true },
    // Fractions have at most the digits of the factor, and the remainder is below the divisor.
    key: ({ remainder, fractionDigits, isFraction, isEmpty }) =>
      remainder < maxNumberKey
        ? ((remainder * (scale + 1) + fractionDigits) * 2 + (isFraction ? 1 : 0)) * 2 + (isEmpty ? 1 : 0)
        : `${remainder} ${fractionDigits} ${isFraction} ${isEmpty}`,
    classes,
    accepts: (state) => !state.isEmpty && complete(state) === 0,
    step(state, byte) {
      const character = String.fromCharCode(byte);
      if (character === "-") return state.isEmpty ? state : undefined;
      if (character === ".") return state.isFraction || state.isEmpty ? undefined : { ...state, isFraction: true };
      if (character < "0" || character > "9") return undefined;
      const digit = Number(character);
      if (state.isFraction && state.fractionDigits >= scale) return digit === 0 ? state : undefined;
      const remainder = (state.remainder * 10 + digit) % divisor;
      return { ...state, remainder, fractionDigits: state.fractionDigits + (state.isFraction ? 1 : 0), isEmpty: false };
    },
  });
}
