// Where values lie on an axis, and which of them are labelled.
"use strict";

/** About `count` round numbers between two ends, with the step between them. */
function roundNumbers(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => power * one >= 0.85 * rough);
  const values = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + 1e-9 * step; number++) values.push(number * step);
  return { step, values };
}

/** A number beside an axis: `0.02`, `−1.5`, `20k`, `3M`, `2e−6`. */
function numberText(value, step) {
  const size = Math.abs(value);
  let text;
  if (size >= 1e15 || (size > 0 && size < 1e-4)) text = value.toExponential().replace("+", "");
  else if (size >= 1e4) {
    const place = Math.min(4, Math.floor(Math.log10(size * (1 + 1e-9)) / 3));
    text = `${Number((value / 1000 ** place).toPrecision(6))}${["", "k", "M", "G", "T"][place]}`;
  } else text = value.toFixed(Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
  return text.replaceAll("-", "−");
}

function linearScale(values, zero) {
  const known = zero ? [0, ...values] : values;
  let [low, high] = [Math.min(...known), Math.max(...known)];
  const room = 0.05 * (high - low) || 0.1 * Math.abs(low) || 1;
  [low, high] = [low - room, high + room];
  const share = (value) => (value - low) / (high - low);
  const ticks = (count) => {
    const { step, values: found } = roundNumbers(low, high, count);
    return found.map((value) => ({ share: share(value), lines: [numberText(value, step)] }));
  };
  return { share, ticks, zero: zero ? share(0) : null };
}

/** Logarithmic: labels at the values themselves where they are few, else at 1, 2 and 5 of each power of ten while there
 * is room for them, else at powers. */
function logScale(values) {
  const own = [...new Set(values.filter((value) => value > 0))].sort((a, b) => a - b);
  const known = own.map(Math.log10);
  let [low, high] = [Math.min(...known), Math.max(...known)];
  const room = 0.05 * (high - low) || 0.1;
  [low, high] = [low - room, high + room];
  const share = (value) => (value > 0 ? (Math.log10(value) - low) / (high - low) : NaN);
  const at = (value) => ({ share: share(value), lines: [numberText(Number(value.toPrecision(3)), value)] });
  const of = (digits, every) => {
    const found = [];
    for (let power = Math.floor(low); power <= high; power++)
      if (power % every === 0) for (const digit of digits) found.push(digit * 10 ** power);
    return found.filter((value) => share(value) >= 0 && share(value) <= 1);
  };
  const ticks = (count) => {
    if (own.length <= Math.min(8, count) && own.every((value, i) => !i || share(value) - share(own[i - 1]) > 0.08))
      return own.map(at);
    const choices = [of([1, 2, 5], 1), of([1], 1), of([1], 2), of([1], 3), of([1], 6)];
    const found = choices.find((one) => one.length <= Math.max(3, 1.6 * count));
    if (found.length > 2) return found.map(at);
    const { step, values: even } = roundNumbers(10 ** low, 10 ** high, count); // less than a power of ten
    return even.filter((value) => value > 0).map((value) => ({ share: share(value), lines: [numberText(value, step)] }));
  };
  return { share, ticks, zero: null };
}

/** A place for each category, in their order. */
function categoryScale(categories, labels) {
  const share = (value) => (categories.indexOf(value) + 0.5) / categories.length;
  const ticks = () => categories.map((value, i) => ({ share: share(value), lines: labels[i] }));
  return { share, ticks, zero: null, cell: 1 / categories.length };
}

function scaleOf(axis, values) {
  if (axis.categories) return categoryScale(axis.categories, axis.labels);
  const known = values.filter(Number.isFinite);
  if (axis.log && known.some((value) => value > 0)) return logScale(known);
  return linearScale(known.length ? known : [0, 1], axis.zero);
}
