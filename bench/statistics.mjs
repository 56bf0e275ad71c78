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

export function summary(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

// Ratios of values measured one after the other, pair by pair, so that slow drift of the machine cancels out.
export function pairedRatios(numerators, denominators) {
  return summary(numerators.map((value, index) => value / denominators[index]));
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
