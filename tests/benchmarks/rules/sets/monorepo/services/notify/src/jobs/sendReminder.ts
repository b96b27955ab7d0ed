import type { Job } from "bullmq";
import { isQuietTime } from "../quietTime";
import { sms } from "../sms";

export async function sendReminder(job: Job<{ patientId: string; phone: string; zone: string; day: string }>) {
  if (isQuietTime(job.data.zone)) return job.moveToDelayed(Date.now() + 3_600_000);
  await sms(job.data.phone, "reminder", { day: job.data.day });
}
