# Installs git-chronicle @VERSION@ for the current user of Windows.
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-Folder DIR]
#
# DIR is %LOCALAPPDATA%\Programs\git-chronicle by default; its bin is added to your PATH. Another place to download from
# is named by CHRONICLE_DOWNLOAD_URL; the checksums below have to fit all the same.
param([string]$Folder = (Join-Path $env:LOCALAPPDATA 'Programs\git-chronicle'))

$ErrorActionPreference = 'Stop'
$version = '@VERSION@'
$url = if ($env:CHRONICLE_DOWNLOAD_URL) { $env:CHRONICLE_DOWNLOAD_URL } else { '@URL@' }
$sums = @'
@SUMS@
'@

$cpu = if ($env:PROCESSOR_ARCHITECTURE -eq 'ARM64') { 'aarch64' } else { 'x86_64' }
$name = "git-chronicle-$version-$cpu-pc-windows-msvc"
$line = $sums -split "`r?`n" | Where-Object { $_.EndsWith("  $name.zip") } | Select-Object -First 1
if (-not $line) { throw "this release has no $name.zip" }
$expected = $line.Split(' ')[0]

$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    $archive = Join-Path $work 'archive.zip'
    Invoke-WebRequest -UseBasicParsing -Uri "$url/$name.zip" -OutFile $archive
    $found = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLowerInvariant()
    if ($found -ne $expected) { throw "the checksum of $name.zip is $found, and should be $expected" }
    Expand-Archive -Path $archive -DestinationPath $work
    # Nothing is removed: the folder may be one that has other things in it.
    New-Item -ItemType Directory -Path $Folder -Force | Out-Null
    Copy-Item -Recurse -Force (Join-Path $work "$name\*") $Folder
} finally {
    Remove-Item -Recurse -Force $work
}

$bin = Join-Path $Folder 'bin'
$path = [Environment]::GetEnvironmentVariable('Path', 'User')
if (($path -split ';') -notcontains $bin) {
    [Environment]::SetEnvironmentVariable('Path', "$bin;$path", 'User')
    Write-Output "Added $bin to your PATH; open a new terminal."
}
Write-Output "Installed git-chronicle $version in $Folder."
Write-Output 'Next: git chronicle setup, once, and git chronicle init in each repository.'
