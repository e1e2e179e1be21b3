import { sleep } from 'k6';
import { Client } from 'k6/x/llmbench';

const vus = Number(__ENV.VUS);
const client = new Client();
const everyVU = { executor: 'per-vu-iterations', vus, iterations: Number(__ENV.ITERATIONS), maxDuration: '5m' };
export const options = { scenarios: { everyVU }, summaryTrendStats: ['med', 'p(99)', 'count'] };

// VUs begin one after the other in the first second.
export default function () {
  if (__ITER === 0) sleep(__VU / vus);
  client.chat({ prompt: 'one two three four', maxTokens: Number(__ENV.TOKENS), fixedOutput: true });
}

export function handleSummary(data) {
  const ttft = data.metrics.llm_ttft.values;
  return { stdout: `BenchmarkK6/vus=${vus} ${ttft.count} ${1e6 * ttft.med} p50-ttft-ns ${1e6 * ttft['p(99)']} p99-ttft-ns\n` };
}
