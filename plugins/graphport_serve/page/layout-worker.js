// ForceAtlas2 off the main thread: positions come back while it works, so the page never waits for it.

import iterate from "./vendor/forceatlas2.js";

const NODE = 10; // floats a node takes in the library's matrix
const EDGE = 3;
let run = 0;

onmessage = ({ data }) => {
  run += 1;
  work(run, data);
};

async function work(mine, { x, y, sources, targets, weights, milliseconds, interval }) {
  const nodes = new Float32Array(x.length * NODE);
  const edges = new Float32Array(sources.length * EDGE);
  for (let row = 0; row < x.length; row += 1) {
    nodes.set([x[row], y[row], 0, 0, 0, 0, 1, 1, 1, 0], row * NODE);
  }
  for (let row = 0; row < sources.length; row += 1) {
    edges.set([sources[row] * NODE, targets[row] * NODE, weights[row]], row * EDGE);
    nodes[sources[row] * NODE + 6] += weights[row];
    nodes[targets[row] * NODE + 6] += weights[row];
  }
  const settings = {
    linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1, scalingRatio: 10,
    strongGravityMode: true, gravity: 0.05, slowDown: 1 + Math.log(x.length), barnesHutOptimize: x.length > 1000, barnesHutTheta: 0.6,
  };
  const end = performance.now() + milliseconds;
  let told = performance.now();
  for (let step = 0; step < 600 && performance.now() < end; step += 1) {
    iterate(settings, nodes, edges);
    if (performance.now() - told > interval) {
      tell(nodes, x.length, false);
      await new Promise((resolve) => setTimeout(resolve)); // a newer graph may have come
      if (mine !== run) return;
      told = performance.now();
    }
  }
  tell(nodes, x.length, true);
}

function tell(nodes, count, done) {
  const x = new Float32Array(count);
  const y = new Float32Array(count);
  for (let row = 0; row < count; row += 1) {
    x[row] = nodes[row * NODE];
    y[row] = nodes[row * NODE + 1];
  }
  postMessage({ x, y, done }, [x.buffer, y.buffer]);
}
