// The safety of an instance: its state, and its use of the network's limits.
import { Meter } from '../ui/meter.tsx'
import parts from '../ui/parts.module.css'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import { Forecast } from './forecast.tsx'
import styles from './instances.module.css'
import type { ShownInstance } from './shown-instance.ts'
import { text } from './words.ts'

export function Safety({
  instanceId,
  dailyCapReachedAt: reachedAt,
  safetyState,
  safetyScore,
  recommendations,
  usageWindowSummary: used,
  warmupPolicy: caps,
}: ShownInstance['health']) {
  return (
    <section className={parts.panel} aria-label={text.safety}>
      <div className={parts.panelHead}>
        <h2>{text.safety}</h2>
        <span>{words.safety.of(words.safety.states[safetyState], safetyScore)}</span>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Meter name={text.hourly} value={used.outbound1h} max={caps.hourlyOutboundCap} />
        <Meter name={text.daily} value={used.outbound24h} max={caps.dailyOutboundCap} />
        <Meter name={text.hourlyRecipients} value={used.uniqueRecipients1h} max={caps.hourlyUniqueRecipientsCap} />
        <Meter name={text.dailyRecipients} value={used.uniqueRecipients24h} max={caps.dailyUniqueRecipientsCap} />
        {reachedAt && (
          <p>
            {used.outbound24h >= caps.dailyOutboundCap ? (
              text.reached
            ) : (
              <>
                {text.reachedAt} <Time at={reachedAt} />
              </>
            )}
          </p>
        )}
        <h3>{text.recommendations}</h3>
        {recommendations.length === 0 && <p className={parts.hint}>{text.noRecommendations}</p>}
        <ul aria-label={text.recommendations} className={styles.recommendations}>
          {recommendations.map((sentence) => (
            <li key={sentence}>{text.advice(sentence)}</li>
          ))}
        </ul>
        <Forecast id={instanceId} />
      </div>
    </section>
  )
}
