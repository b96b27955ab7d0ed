import { forwardRef, type ComponentPropsWithoutRef } from "react";
import { button } from "./Button.css";

export type ButtonProps = ComponentPropsWithoutRef<"button"> & { variant?: "primary" | "quiet"; loading?: boolean };

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(({ variant = "primary", loading, ...rest }, ref) => (
  <button ref={ref} className={button({ variant })} disabled={loading} {...rest} />
));
