;;; editors.el --- Emacs as a client of the language server -*- lexical-binding: t -*-

;; `editors', next to this file, runs it with the configuration that docs/editors.md prints, in a repository with
;; lessons.

(require 'cl-lib)
(require 'eglot)
(require 'flymake)

(defun ok (words)
  (princ (format "ok %s\n" (replace-regexp-in-string "\n" " | " words))))

(defun check (is-well words found)
  (unless is-well
    (princ (format "%s: %S\n" words found))
    (kill-emacs 1))
  (ok words))

(defun wait-until (is-done)
  "Wait until IS-DONE returns something, which is the answer."
  (let ((end (+ (float-time) 20)) found)
    (while (and (not (setq found (funcall is-done))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(defun hover (line)
  "What Emacs shows when the cursor rests on LINE."
  (goto-char (point-min))
  (forward-line (1- line))
  (let (words)
    ;; A terminal's Emacs sends changes once it is idle, which this one never is.
    (eglot--signal-textDocument/didChange)
    (eglot-hover-eldoc-function (lambda (found &rest _) (setq words (or found ""))))
    (wait-until (lambda () words))
    words))

(setq eglot-sync-connect 20 last-nonmenu-event ?a)
(find-file "pool.rs")
(text-mode)
(call-interactively #'eglot)

(goto-char (point-min))
(insert "// Not saved.\n\n")
(let ((words (hover 7)))
  (check (and (string-search "never block" words) (string-search "line 7," words))
         "hover on a text that is not saved" words))

(goto-char (point-min))
(forward-line 6)
(re-search-forward "let")
(replace-match "const")
(hover 7)
(flymake-start)
(let ((found (wait-until #'flymake-diagnostics)))
  (check (and found (= 7 (line-number-at-pos (flymake-diagnostic-beg (car found))))
              (eq 'eglot-note (flymake-diagnostic-type (car found))))
         "a note about a trap before the text is saved" found))

(defvar said nil "What was shown to the person.")
(advice-add 'message :before
            (lambda (format &rest words)
              (when format (push (apply #'format-message format words) said))))

(defun choose (title line)
  "Choose the action that has TITLE in its name on LINE, and wait until something is shown."
  (goto-char (point-min))
  (forward-line (1- line))
  (setq said nil)
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt titles &rest _)
               (or (cl-find-if (lambda (one) (string-search title one)) (mapcar (lambda (one) (if (consp one) (car one) one)) titles))
                   (check nil (concat "there is no action " title) titles)))))
    (call-interactively #'eglot-code-actions)))

(choose "Mark as done" 8)
(check (wait-until (lambda () (cl-some (lambda (one) (string-search "no longer valid" one)) said)))
       "work is marked as done" said)
(choose "Copy lessons" 7)
(check (wait-until
        (lambda ()
          (or (cl-some (lambda (one) (string-search "never block" one)) said)
              ;; A newer Emacs opens a page.
              (cl-some (lambda (one) (with-current-buffer one (and (buffer-file-name) (string-search "<chronicle" (buffer-string)))))
                       (buffer-list)))))
       "lessons are shown for an agent" said)
(set-buffer "pool.rs")
(check (buffer-modified-p) "the text is still not saved" nil)

(when (fboundp 'eglot-inlay-hints-mode)
  (eglot-inlay-hints-mode 1)
  (check (wait-until
          (lambda ()
            (eglot--update-hints (point-min) (point-max))
            (accept-process-output nil 0.5)
            (cl-some (lambda (one)
                       (let ((words (or (overlay-get one 'after-string) (overlay-get one 'before-string))))
                         (and words (string-search "lesson" words))))
                     (overlays-in (point-min) (point-max)))))
         "inlay hints" nil))

(let ((server (eglot-current-server)))
  (eglot-shutdown server)
  (check (not (jsonrpc-running-p server)) "the server ends" nil))
(set-buffer-modified-p nil)
(kill-emacs 0)
;;; editors.el ends here
