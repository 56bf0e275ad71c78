// The statistics that the benchmarks report.

export function median(values) {
  return quantile(values, 0.5);
}

// Linear between the two nearest values.
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  return below + (above - below) * (place - Math.floor(place));
}

export function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export function summary(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

// Ratios of values measured one after the other, pair by pair, so that slow drift of the machine cancels out.
export function pairedRatios(numerators, denominators) {
  return summary(numerators.map((value, index) => value / denominators[index]));
}

// The ratio of two quantities that were measured pair by pair: geometric mean of the pairs' ratios, and the bounds of its 95 % confidence
// interval, from Student's t distribution on the logarithms. The interval of fewer than two pairs is unbounded.
export function ratioInterval(numerators, denominators) {
  const logs = numerators.map((value, index) => Math.log(value / denominators[index]));
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  if (logs.length < 2) return { ratio: Math.exp(mean), low: 0, high: Infinity };
  const variance = logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (logs.length - 1);
  const halfWidth = studentQuantile(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(mean), low: Math.exp(mean - halfWidth), high: Math.exp(mean + halfWidth) };
}

// The 0.975 quantile of Student's t distribution, by degrees of freedom from 1 on; above 30 that of 30, which is at most 4 % too large.
const studentQuantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101,
  2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

function studentQuantile(degreesOfFreedom) {
  return studentQuantiles[Math.min(degreesOfFreedom, studentQuantiles.length) - 1];
}

export function cosine(a, b) {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

// Spearman's rank correlation: Pearson's on ranks, equal values sharing their mean rank.
export function spearman(a, b) {
  const centredA = centred(ranks(a));
  const centredB = centred(ranks(b));
  return cosine(centredA, centredB);
}

function ranks(values) {
  const order = values.map((_value, index) => index).toSorted((a, b) => values[a] - values[b]);
  const result = Array.from({ length: values.length }, () => 0);
  for (let start = 0, end = 0; start < order.length; start = end) {
    while (end < order.length && values[order[end]] === values[order[start]]) end += 1;
    for (let place = start; place < end; place += 1) result[order[place]] = (start + end - 1) / 2;
  }
  return result;
}

function centred(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

function dot(a, b) {
  return a.reduce((sum, value, index) => sum + value * b[index], 0);
}
