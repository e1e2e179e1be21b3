// The rate of requests rises to RATE in a minute and stays there for DURATION. The test fails if the SLO is
// missed, if a request fails, or if the server is so slow that requests cannot be sent when they are due.
//
//	LLMBENCH_URL=http://127.0.0.1:8000 RATE=8 DURATION=5m k6 run --no-usage-report slo.js
import exec from 'k6/execution';
import { Client } from 'k6/x/llmbench';

const rate = Number(__ENV.RATE || 4); // requests a second
const most = Number(__ENV.MAX_VUS || 256); // requests in flight at most

export const options = {
  scenarios: {
    chat: {
      executor: 'ramping-arrival-rate',
      startRate: 0,
      timeUnit: '1s',
      preAllocatedVUs: most,
      maxVUs: most,
      stages: [
        { duration: __ENV.RAMP || '1m', target: rate },
        { duration: __ENV.DURATION || '5m', target: rate },
      ],
      gracefulStop: '1m',
    },
  },
  thresholds: {
    llm_ttft: ['p(95)<500'], // milliseconds
    llm_tpot: ['p(95)<50'],
    llm_good: ['rate>0.95'], // of requests that meet each limit of the client's slo
    llm_failed: ['rate<0.01'],
    llm_read_lag: ['p(99)<50'], // this machine is fast enough
    dropped_iterations: ['count==0'],
  },
  summaryTrendStats: ['avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'max'],
};

const client = new Client({ slo: 'ttft=500ms,tpot=50ms', timeout: '1m' });

// Prompts differ from their first words on, so that no prefix cache of the server answers. The number of
// an iteration is unique among all processes of a test with execution segments.
export default function () {
  client.chat({
    prompt: `${__ENV.SALT || 'a'}${exec.scenario.iterationInTest}: write a story about a lighthouse in the fog`,
    maxTokens: 128,
  });
}
